//! What a page asks: settings one after the other, each with its interval and in times today's.

use redolab_forecast::{
    Asking, Beyond, Calibration, Elbow, Predicted, Quantities, Refused, SEED, Scenario,
    commits_of_forecast, commits_simulated, elbow, extrapolated, family_of, is_wide, predicted,
    predicted_ratio, scored, simulate,
};

use crate::costs::{read_calibration, read_scenario, write_calibration, write_scenario};
use crate::numbers::{Numbers, length};
use crate::record::{Errors, QUANTITIES, RATIOS, Record};

/// No number, for what is not known of a setting.
type Values = [f64; QUANTITIES.len()];

/// Where an outlook is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Today's setting, with which all others are compared.
    Today,
    /// The setting that is asked about.
    Asked,
    /// A point of a curve.
    Point,
}

/// What the model says of a setting, and its replicates as far as they were asked.
#[derive(Debug, Clone)]
pub struct Outlook {
    scenario: Scenario,
    /// The name of the settings in which the model errs alike.
    pub family: &'static str,
    /// The factors that lie outside of what was measured.
    pub beyond: Vec<Beyond>,
    /// By `QUANTITIES`.
    pub point: Values,
    /// Mean number of sessions in each of the simulator's states, in their order.
    pub sessions_by_state: [f64; 7],
    /// Mean number of arrivals that have no session yet.
    pub backlog: f64,
    replicates: Vec<Values>,
}

/// A quantity with its prediction interval, and the same of its ratio to today's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// The quantity; no numbers where it is not known.
    pub predicted: Predicted,
    /// In times today's; no numbers where there is none.
    pub ratio: Predicted,
}

/// A run's costs, and what was asked of them last.
#[derive(Debug, Clone)]
pub struct Explorer {
    /// The costs themselves first, then those of resampled runs.
    costs: Vec<Calibration>,
    measured: Vec<Scenario>,
    /// Of the system itself first, then of those whose forecasts are at least as sure as its own can be.
    records: Vec<Record>,
    outlooks: [Option<Outlook>; 3],
}

impl Explorer {
    /// With these costs, of which the first are the run's own and the others those of its resampled blocks.
    ///
    /// - `errors`: of earlier forecasts of the system itself first, then of every other whose forecasts are at least as
    ///   sure as its own can be. An interval is no narrower than that of any of them.
    #[must_use]
    pub fn new(costs: Vec<Calibration>, measured: Vec<Scenario>, errors: Vec<Errors>) -> Self {
        let records = errors.into_iter().map(Record::new).collect();
        Self { costs, measured, records, outlooks: [None, None, None] }
    }

    /// As numbers.
    #[must_use]
    pub fn written(&self) -> Vec<f64> {
        let mut numbers = vec![length(self.costs.len())];
        for costs in &self.costs {
            write_calibration(&mut numbers, costs);
        }
        numbers.push(length(self.measured.len()));
        for scenario in &self.measured {
            write_scenario(&mut numbers, scenario);
        }
        numbers.push(length(self.records.len()));
        for record in &self.records {
            record.write(&mut numbers);
        }
        numbers
    }

    /// From such numbers.
    ///
    /// # Errors
    /// Numbers that are none of these.
    pub fn read(numbers: &[f64]) -> Result<Self, Refused> {
        let from = &mut Numbers::new(numbers);
        let count = from.count(1)?;
        let costs = (0..count).map(|_| read_calibration(from)).collect::<Result<Vec<_>, _>>()?;
        if costs.is_empty() {
            return Err(Refused::Invalid("the page has no costs".to_owned()));
        }
        let count = from.count(9)?;
        let measured = (0..count).map(|_| read_scenario(from)).collect::<Result<_, _>>()?;
        let count = from.count(1)?;
        let records = (0..count).map(|_| Record::read(from)).collect::<Result<Vec<_>, _>>()?;
        if records.is_empty() {
            return Err(Refused::Invalid("the page has no record of forecasts".to_owned()));
        }
        from.end()?;
        Ok(Self { costs, measured, records, outlooks: [None, None, None] })
    }

    /// How many resampled costs there are.
    #[must_use]
    pub fn replicates(&self) -> usize {
        self.costs.len() - 1
    }

    /// Forecast a setting, and keep it in that slot without replicates.
    ///
    /// - `commits`: to simulate at least; None for as many as a forecast does.
    ///
    /// # Errors
    /// A setting that cannot be, has no steady state or takes too long, or nobody who wants it any more; then nothing
    /// is kept.
    pub fn begin(
        &mut self,
        slot: Slot,
        scenario: &Scenario,
        commits: Option<u64>,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<&Outlook, Refused> {
        let place = slot as usize;
        self.outlooks[place] = None;
        let needs = self.costs[0].needs_of(scenario)?;
        let least = u64::from(needs.sessions).saturating_mul(u64::from(redolab_forecast::BATCHES));
        let asked = commits.map_or_else(|| commits_of_forecast(&needs).0, |few| few.max(least));
        let state = simulate(&needs, SEED, commits_simulated(&needs, asked), &mut *wanted)?;
        let outlook = Outlook {
            scenario: scenario.clone(),
            family: family_of(scenario),
            beyond: extrapolated(&self.costs[0], &self.measured, scenario),
            point: values(scenario, &Quantities::of(&needs, &state)),
            sessions_by_state: state.sessions_by_state.map(|mean| mean.point),
            backlog: state.backlog.point,
            replicates: Vec::new(),
        };
        Ok(self.outlooks[place].insert(outlook))
    }

    /// Forecast what the slot holds from the next resampled costs; without a steady state there is nothing of it.
    ///
    /// # Errors
    /// No such costs, an empty slot, replicates out of their order, or what `begin` refuses.
    pub fn replicate(
        &mut self,
        slot: Slot,
        replicate: usize,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<(), Refused> {
        let outlook = self.outlooks[slot as usize].as_mut().ok_or_else(nothing_asked)?;
        let costs = self.costs.get(replicate + 1);
        let Some(costs) = costs.filter(|_| outlook.replicates.len() == replicate) else {
            return Err(Refused::Invalid(format!("there is no replicate {replicate} to ask now")));
        };
        // As many commits as the costs themselves say.
        let (_, few) = commits_of_forecast(&self.costs[0].needs_of(&outlook.scenario)?);
        let needs = costs.needs_of(&outlook.scenario)?;
        let found = match simulate(&needs, SEED, commits_simulated(&needs, few), &mut *wanted) {
            Ok(state) => values(&outlook.scenario, &Quantities::of(&needs, &state)),
            Err(Refused::NoSteadyState(_)) => [f64::NAN; QUANTITIES.len()],
            Err(refused) => return Err(refused),
        };
        outlook.replicates.push(found);
        Ok(())
    }

    /// How many of the slot's replicates have no steady state.
    ///
    /// # Errors
    /// An empty slot.
    pub fn lost(&self, slot: Slot) -> Result<usize, Refused> {
        let outlook = self.outlook(slot)?;
        Ok(outlook.replicates.iter().filter(|one| one[0].is_nan()).count())
    }

    /// Every quantity of the slot with its interval, by `QUANTITIES`, and in times today's where today's slot holds as
    /// many replicates.
    ///
    /// # Errors
    /// An empty slot.
    pub fn intervals(&self, slot: Slot) -> Result<[Said; QUANTITIES.len()], Refused> {
        let asked = self.outlook(slot)?;
        let today = self.outlook(Slot::Today).ok();
        let today = today.filter(|today| today.replicates.len() == asked.replicates.len());
        let mut said = [Said { predicted: NOTHING, ratio: NOTHING }; QUANTITIES.len()];
        for (place, said) in said.iter_mut().enumerate() {
            if asked.point[place].is_nan() {
                continue;
            }
            said.predicted = self.predicted(asked, place)?;
            if let Some(today) = today {
                said.ratio = self.ratio(today, asked, place)?;
            }
        }
        Ok(said)
    }

    /// The fewest sessions that give nearly the best throughput of what the slot holds.
    ///
    /// # Errors
    /// An empty slot, or those of `redolab_forecast::elbow`.
    pub fn elbow(&self, slot: Slot, wanted: &mut dyn FnMut() -> bool) -> Result<Elbow, Refused> {
        let scenario = &self.outlook(slot)?.scenario;
        elbow(Asking { calibration: &self.costs[0], wanted }, scenario)
    }

    fn outlook(&self, slot: Slot) -> Result<&Outlook, Refused> {
        self.outlooks[slot as usize].as_ref().ok_or_else(nothing_asked)
    }

    fn predicted(&self, asked: &Outlook, place: usize) -> Result<Predicted, Refused> {
        let name = QUANTITIES[place];
        let known = asked.replicates.iter().map(|one| one[place]).filter(|value| !value.is_nan());
        let known = known.collect::<Vec<_>>();
        self.widest(|record| {
            let errors = record.errors(asked.family, scored(name));
            predicted(name, asked.point[place], &known, errors, self.is_wide(asked, errors))
        })
    }

    /// The interval around those of every record; what was verified is of the first.
    fn widest(
        &self,
        interval: impl Fn(&Record) -> Result<Predicted, Refused>,
    ) -> Result<Predicted, Refused> {
        let mut found = self.records.iter().map(interval);
        let first = found.next().unwrap_or(Ok(NOTHING))?;
        found.try_fold(first, |widest, other| {
            let other = other?;
            Ok(Predicted {
                low: widest.low.min(other.low),
                high: widest.high.max(other.high),
                ..widest
            })
        })
    }

    fn is_wide(&self, asked: &Outlook, errors: &[f64]) -> bool {
        is_wide(!asked.beyond.is_empty(), self.costs[0].prior_holds(), !errors.is_empty())
    }

    fn ratio(&self, today: &Outlook, asked: &Outlook, place: usize) -> Result<Predicted, Refused> {
        let before = today.point[place];
        if before.is_nan() || before == 0.0 {
            return Ok(NOTHING);
        }
        if asked.scenario == today.scenario {
            return Ok(Predicted { point: 1.0, low: 1.0, high: 1.0, ..NOTHING });
        }
        let name = scored(QUANTITIES[place]);
        let own = RATIOS.iter().find(|(quantity, _)| *quantity == name);
        let pairs = asked.replicates.iter().zip(&today.replicates);
        let known = pairs
            .map(|(one, other)| (one[place], other[place]))
            .filter(|(one, other)| !one.is_nan() && !other.is_nan() && *other != 0.0);
        let known = known.map(|(one, other)| one / other).collect::<Vec<_>>();
        self.widest(|record| {
            let of_ratio = record.errors(asked.family, own.map_or(name, |(_, ratio)| ratio));
            let of_quantity = record.errors(asked.family, name);
            let wide = self.is_wide(asked, of_quantity);
            predicted_ratio(asked.point[place] / before, &known, of_ratio, of_quantity, wide)
        })
    }
}

const NOTHING: Predicted = Predicted {
    point: f64::NAN,
    low: f64::NAN,
    high: f64::NAN,
    level: redolab_forecast::LEVEL,
    verified: 0,
};

fn nothing_asked() -> Refused {
    Refused::Invalid("nothing was asked there".to_owned())
}

#[expect(clippy::cast_precision_loss, reason = "at most 2^32 rows")]
fn values(scenario: &Scenario, quantities: &Quantities) -> Values {
    let mut values = [f64::NAN; QUANTITIES.len()];
    let known = quantities.named();
    for (name, value) in QUANTITIES.iter().zip(&mut values) {
        *value = match known.iter().find(|(known, _)| known == name) {
            Some((_, found)) => *found,
            None if *name == "rows_per_s" => {
                quantities.throughput_per_s * scenario.rows_per_commit as f64
            }
            None => f64::NAN,
        };
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explorer() -> Explorer {
        let errors = vec![("batches".to_owned(), "throughput_per_s".to_owned(), vec![0.1; 9])];
        Explorer::new(crate::example(), vec![Scenario::new(1)], vec![errors])
    }

    #[test]
    fn what_is_written_is_read_and_what_is_damaged_is_refused() {
        let numbers = explorer().written();
        let again = Explorer::read(&numbers).unwrap();
        assert_eq!(again.written().len(), numbers.len());
        assert_eq!((again.costs, again.records), (explorer().costs, explorer().records));
        for end in 0..numbers.len() {
            assert!(Explorer::read(&numbers[..end]).is_err());
        }
        for place in 0..numbers.len() {
            for value in [f64::NAN, -1.0, 1e300, 0.5] {
                let mut damaged = numbers.clone();
                damaged[place] = value;
                // Whatever it says: no panic and no endless list.
                let _ = Explorer::read(&damaged);
            }
        }
    }

    #[test]
    fn the_interval_has_replicates_and_past_errors() {
        let mut explorer = explorer();
        let asked = Scenario { rows_per_commit: 8, ..Scenario::new(8) };
        for (slot, scenario) in [(Slot::Today, Scenario::new(8)), (Slot::Asked, asked)] {
            explorer.begin(slot, &scenario, Some(2_000), &mut || true).unwrap();
            explorer.replicate(slot, 0, &mut || true).unwrap();
            assert!(explorer.replicate(slot, 0, &mut || true).is_err());
            assert!(explorer.replicate(slot, 1, &mut || true).is_err());
            assert_eq!(explorer.lost(slot), Ok(0));
        }
        let said = explorer.intervals(Slot::Asked).unwrap();
        let (throughput, rows) = (said[0].predicted, said[10].predicted);
        assert_eq!((throughput.verified, rows.verified, said[1].predicted.verified), (9, 9, 0));
        assert!((rows.point / throughput.point - 8.0).abs() < 1e-12);
        assert!(said[0].ratio.point < said[10].ratio.point && said[10].ratio.verified == 9);
        let today = explorer.intervals(Slot::Today).unwrap();
        assert!((today[0].ratio.low - 1.0).abs() < 1e-12);
        // Without as many replicates of today's nothing is compared.
        explorer.begin(Slot::Point, &Scenario::new(4), Some(2_000), &mut || true).unwrap();
        assert!(explorer.intervals(Slot::Point).unwrap()[0].ratio.point.is_nan());
    }

    #[test]
    fn it_is_never_surer_than_of_costs_that_were_measured() {
        let of =
            |value| vec![("single rows".to_owned(), "throughput_per_s".to_owned(), vec![value; 9])];
        let said = |errors| {
            let mut explorer = Explorer::new(crate::example(), vec![Scenario::new(8)], errors);
            explorer.begin(Slot::Asked, &Scenario::new(8), Some(2_000), &mut || true).unwrap();
            explorer.intervals(Slot::Asked).unwrap()[0].predicted
        };
        let (narrow, wide) = (said(vec![of(0.02)]), said(vec![of(0.2)]));
        assert!(narrow.high < wide.high);
        for both in [said(vec![of(0.02), of(0.2)]), said(vec![of(0.2), of(0.02)])] {
            assert_eq!((both.low, both.high), (wide.low, wide.high));
        }
        // How often it was verified is said of the system itself.
        assert_eq!(said(vec![vec![], of(0.2)]).verified, 0);
    }

    #[test]
    fn what_has_no_answer_leaves_nothing_behind() {
        let mut explorer = explorer();
        explorer.begin(Slot::Asked, &Scenario::new(8), Some(2_000), &mut || true).unwrap();
        let flood = Scenario { arrival_rate_per_s: Some(1e6), ..Scenario::new(8) };
        let refused = explorer.begin(Slot::Asked, &flood, None, &mut || true).unwrap_err();
        assert!(matches!(refused, Refused::NoSteadyState(_)));
        assert!(explorer.intervals(Slot::Asked).is_err());
        let refused =
            explorer.begin(Slot::Asked, &Scenario::new(8), None, &mut || false).unwrap_err();
        assert_eq!(refused, Refused::Unwanted);
    }

    #[test]
    fn the_elbow_is_that_of_the_forecast() {
        let mut explorer = explorer();
        explorer.begin(Slot::Asked, &Scenario::new(8), Some(2_000), &mut || true).unwrap();
        let found = explorer.elbow(Slot::Asked, &mut || true).unwrap();
        let costs = &explorer.costs[0];
        let mut wanted = || true;
        let asking = Asking { calibration: costs, wanted: &mut wanted };
        assert_eq!(found, elbow(asking, &Scenario::new(8)).unwrap());
    }
}
