//! Costs and settings as numbers: their fields in the order in which they are declared.

use std::convert::Infallible;

use redolab_forecast::{
    Calibration, Curve, Read, Refused, Scenario, SecondCosts, Source, Target, Waits, Write,
};

use crate::numbers::{Numbers, flag, length, write_list, write_pairs};

/// Numbers to which fields are appended.
struct Row<'a>(&'a mut Vec<f64>);

impl Target for Row<'_> {
    type Error = Infallible;
}

impl Source for Numbers<'_> {
    type Error = Refused;
}

/// How a field of each type is read, and how it is written.
macro_rules! fields {
    ($($kind:ty: $read:expr, |$to:ident, $value:ident| $write:expr;)+) => {
        $(
            impl Read<$kind> for Numbers<'_> {
                fn read(&mut self, _: &'static str, _: $kind) -> Result<$kind, Refused> {
                    $read(self)
                }
            }

            impl Write<$kind> for Row<'_> {
                fn write(&mut self, _: &'static str, $value: &$kind) -> Result<(), Infallible> {
                    let $to = &mut *self.0;
                    $write;
                    Ok(())
                }
            }
        )+
    };
}

fields! {
    bool: Numbers::flag, |to, value| to.push(flag(*value));
    u32: Numbers::small, |to, value| to.push(f64::from(*value));
    i64: Numbers::whole, |to, value| to.push(count(*value));
    f64: Numbers::next, |to, value| to.push(*value);
    Option<f64>: Numbers::optional, |to, value| to.push(value.unwrap_or(f64::NAN));
    Vec<f64>: Numbers::list, |to, value| write_list(to, value);
    Vec<(f64, f64)>: Numbers::pairs, |to, value| write_pairs(to, value.iter().copied());
    Curve: Numbers::curve, |to, value| write_pairs(to, value.iter().map(|&(n, cost)| (f64::from(n), cost)));
    Waits: read_waits, |to, value| to.push(place_of_word(value.word()));
    Option<SecondCosts>: read_second, |to, value| write_second(to, value.as_ref());
}

/// A calibration.
pub fn write_calibration(to: &mut Vec<f64>, costs: &Calibration) {
    let Ok(()) = costs.write(&mut Row(to));
}

/// The same, read.
///
/// # Errors
/// Numbers that are no calibration.
pub fn read_calibration(from: &mut Numbers<'_>) -> Result<Calibration, Refused> {
    Calibration::read(from, Calibration::default())
}

fn write_second(to: &mut Vec<f64>, second: Option<&SecondCosts>) {
    to.push(flag(second.is_some()));
    if let Some(second) = second {
        let Ok(()) = second.write(&mut Row(to));
    }
}

fn read_second(from: &mut Numbers<'_>) -> Result<Option<SecondCosts>, Refused> {
    from.flag()?.then(|| SecondCosts::read(from, SecondCosts::default())).transpose()
}

/// A setting: nine numbers, no number for None.
pub fn write_scenario(to: &mut Vec<f64>, scenario: &Scenario) {
    let Ok(()) = scenario.write(&mut Row(to));
}

/// The same, read and checked.
///
/// # Errors
/// Numbers that are no setting, or a setting that cannot be.
pub fn read_scenario(from: &mut Numbers<'_>) -> Result<Scenario, Refused> {
    let scenario = Scenario::read(from, Scenario::default())?;
    scenario.check()?;
    Ok(scenario)
}

#[expect(clippy::cast_precision_loss, reason = "read back, they must be whole")]
fn count(whole: i64) -> f64 {
    whole as f64
}

/// The place of a word of `Waits`, as it stands on a page.
pub fn place_of_word(word: &str) -> f64 {
    let place = Waits::WORDS.iter().position(|(_, known)| *known == word);
    place.map_or(f64::NAN, length)
}

fn read_waits(from: &mut Numbers<'_>) -> Result<Waits, Refused> {
    let number = from.small()?;
    let known = Waits::WORDS.get(number as usize).map(|(waits, _)| *waits);
    known.ok_or_else(|| {
        Refused::Invalid(format!("the page's numbers are damaged: no commit waits for {number}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use redolab_forecast::made_up::{server, two_logs};

    #[test]
    fn settings_are_the_same_when_read_again() {
        let usual = Scenario::new(8);
        for scenario in [
            usual.clone(),
            Scenario {
                commit_wait: Waits::Nothing,
                commit_delay_us: 50,
                rows_per_commit: 32,
                ..usual.clone()
            },
            Scenario {
                log_device_ms: Some(0.5),
                cpus: Some(7.3),
                think_time_ms: 2.9,
                ..usual.clone()
            },
            Scenario { arrival_rate_per_s: Some(1_234.5), cpu_factor: 0.95, ..usual.clone() },
            Scenario { commit_wait: Waits::First, ..usual.clone() },
            Scenario { commit_wait: Waits::Second, ..usual.clone() },
        ] {
            let mut numbers = Vec::new();
            write_scenario(&mut numbers, &scenario);
            assert_eq!(numbers.len(), 9);
            assert_eq!(read_scenario(&mut Numbers::new(&numbers)), Ok(scenario));
        }
        let mut numbers = Vec::new();
        write_scenario(&mut numbers, &Scenario { sessions: 0, ..usual });
        let refused = read_scenario(&mut Numbers::new(&numbers)).unwrap_err().to_string();
        assert_eq!(refused, "sessions is 0; it must be at least 1");
        numbers[2] = 4.0;
        let refused = read_scenario(&mut Numbers::new(&numbers)).unwrap_err().to_string();
        assert!(refused.ends_with("no commit waits for 4"), "{refused}");
    }

    #[test]
    fn costs_of_two_logs_are_the_same_when_read_again() {
        let seen = Calibration { only_seen: true, ..two_logs() };
        for costs in [server(), two_logs(), seen] {
            let mut numbers = Vec::new();
            write_calibration(&mut numbers, &costs);
            let from = &mut Numbers::new(&numbers);
            assert_eq!(read_calibration(from), Ok(costs));
            assert_eq!(from.end(), Ok(()));
        }
    }
}
