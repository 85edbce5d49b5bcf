//! What of a setting lies beyond what was measured.

use crate::costs::calibration::Calibration;
use crate::costs::scenario::Scenario;

/// A value so far outside of what was measured, as a part of it, still counts as measured.
const MEASURED: f64 = 0.05;

/// The value of a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// A whole number.
    Whole(i64),
    /// Any number.
    Number(f64),
    /// A word.
    Word(&'static str),
}

impl Level {
    #[expect(clippy::cast_precision_loss, reason = "nobody measures 2^53 of anything")]
    fn number(self) -> Option<f64> {
        match self {
            Self::Whole(value) => Some(value as f64),
            Self::Number(value) => Some(value),
            Self::Word(_) => None,
        }
    }

    fn is_less(self, other: Self) -> bool {
        match (self, other) {
            (Self::Word(one), Self::Word(two)) => one < two,
            _ => self.number() < other.number(),
        }
    }

    fn is_same(self, other: Self) -> bool {
        !self.is_less(other) && !other.is_less(self)
    }
}

/// A factor whose value lies outside of what the run measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beyond {
    /// Its name.
    pub factor: &'static str,
    /// Its place among the factors of a scenario.
    pub place: usize,
    /// The value that is asked about.
    pub asked: Level,
    /// The least and the greatest that were measured; None where it has no value in any measured setting.
    pub measured: Option<(Level, Level)>,
}

/// Every factor of a scenario whose value lies outside of what the run measured, in the order of `Scenario`.
///
/// The log device and the CPUs were measured as they are, so any other value of them is outside.
#[must_use]
pub fn extrapolated(
    calibration: &Calibration,
    measured: &[Scenario],
    scenario: &Scenario,
) -> Vec<Beyond> {
    let device_ms = 1e3 * (calibration.flush_mean_s() + calibration.flush_cpu_s);
    let cpus = i64::from(calibration.cpus);
    let mut beyond = Vec::new();
    for (place, (factor, asked)) in factors(scenario).into_iter().enumerate() {
        let known = match factor {
            "log_device_ms" => vec![Level::Number(device_ms)],
            "cpus" => vec![Level::Whole(cpus)],
            _ => measured.iter().filter_map(|one| factors(one)[place].1).collect(),
        };
        let ends = known.into_iter().fold(None, wider);
        match asked {
            Some(asked) if !is_inside(asked, ends) => {
                beyond.push(Beyond { factor, place, asked, measured: ends });
            }
            _ => {}
        }
    }
    beyond
}

/// Names and values, None where the scenario leaves it as it was measured.
fn factors(scenario: &Scenario) -> [(&'static str, Option<Level>); 9] {
    [
        ("sessions", Some(Level::Whole(scenario.sessions))),
        ("rows_per_commit", Some(Level::Whole(scenario.rows_per_commit))),
        ("commit_wait", Some(Level::Word(scenario.commit_wait.word()))),
        ("commit_delay_us", Some(Level::Whole(scenario.commit_delay_us))),
        ("log_device_ms", scenario.log_device_ms.map(Level::Number)),
        ("cpus", scenario.cpus.map(Level::Number)),
        ("think_time_ms", Some(Level::Number(scenario.think_time_ms))),
        ("arrival_rate_per_s", scenario.arrival_rate_per_s.map(Level::Number)),
        ("cpu_factor", Some(Level::Number(scenario.cpu_factor))),
    ]
}

#[expect(clippy::unnecessary_wraps, reason = "the form that a fold wants")]
fn wider(ends: Option<(Level, Level)>, level: Level) -> Option<(Level, Level)> {
    let (least, most) = ends.unwrap_or((level, level));
    Some((
        if level.is_less(least) { level } else { least },
        if most.is_less(level) { level } else { most },
    ))
}

fn is_inside(asked: Level, ends: Option<(Level, Level)>) -> bool {
    let Some((least, most)) = ends else { return false };
    if asked.is_same(least) || asked.is_same(most) {
        return true;
    }
    match (asked.number(), least.number(), most.number()) {
        (Some(asked), Some(least), Some(most)) => {
            (1.0 - MEASURED) * least <= asked && asked <= (1.0 + MEASURED) * most
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::scenario::Waits;
    use crate::made_up::server;

    #[test]
    fn what_was_not_measured_is_said() {
        let measured = [Scenario::new(1), Scenario { rows_per_commit: 32, ..Scenario::new(8) }];
        let beyond = |scenario: Scenario| extrapolated(&server(), &measured, &scenario);
        assert_eq!(
            beyond(Scenario { rows_per_commit: 33, cpus: Some(1.95), ..Scenario::new(4) }),
            []
        );
        let sessions = Beyond {
            factor: "sessions",
            place: 0,
            asked: Level::Whole(64),
            measured: Some((Level::Whole(1), Level::Whole(8))),
        };
        assert_eq!(beyond(Scenario::new(64)), [sessions]);
        let names = |scenario: Scenario| -> Vec<_> {
            beyond(scenario).iter().map(|one| (one.factor, one.measured)).collect()
        };
        let wait = Some((Level::Word("wait"), Level::Word("wait")));
        let scenario = Scenario { commit_wait: Waits::Nothing, ..Scenario::new(8) };
        assert_eq!(names(scenario), [("commit_wait", wait)]);
        let scenario = Scenario { arrival_rate_per_s: Some(9.0), ..Scenario::new(8) };
        assert_eq!(names(scenario), [("arrival_rate_per_s", None)]);
        let device = |ms| names(Scenario { log_device_ms: Some(ms), ..Scenario::new(8) }).len();
        // A flush takes 1.015 ms.
        assert_eq!([0.95, 0.97, 1.0, 1.06, 1.07].map(device), [1, 0, 0, 0, 1]);
    }

    #[test]
    fn both_kinds_of_commit_measured_are_both_inside() {
        let measured =
            [Scenario::new(8), Scenario { commit_wait: Waits::Nothing, ..Scenario::new(8) }];
        for scenario in &measured {
            assert_eq!(extrapolated(&server(), &measured, scenario), []);
        }
    }
}
