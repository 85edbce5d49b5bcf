//! The setting that is asked about.

use redolab_sim::record;

use crate::costs::assumptions::CPU_FACTORS;
use crate::refused::Refused;
use crate::text::general;

/// Which logs a commit waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// All there are.
    All,
    /// The redo log, the first of two.
    First,
    /// The binary log, the second of two.
    Second,
    /// None.
    Nothing,
}

impl Waits {
    /// All of them, with their words.
    pub const WORDS: [(Self, &'static str); 4] = [
        (Self::Nothing, "nowait"),
        (Self::All, "wait"),
        (Self::First, "redo"),
        (Self::Second, "binlog"),
    ];

    /// What a word says; None where it is none of them.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(waits, _)| *waits)
    }

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(waits, _)| *waits == self).map_or("", |(_, word)| word)
    }
}

record! {
    /// A setting that is asked about, measured or not.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Scenario {
        /// Sessions that work; with arrivals, those that there are for them.
        pub sessions: i64 = 1,
        /// Rows that share a commit.
        pub rows_per_commit: i64 = 1,
        /// Which logs commits wait for.
        pub commit_wait: Waits = Waits::All,
        /// How long a leader sleeps before its flush, in microseconds.
        pub commit_delay_us: i64 = 0,
        /// Time of a flush on another log device; None for the one that was measured.
        pub log_device_ms: Option<f64> = None,
        /// Effective CPUs; None for those that were measured.
        pub cpus: Option<f64> = None,
        /// From the end of a transaction to the beginning of the session's next, exponential.
        pub think_time_ms: f64 = 0.0,
        /// Commits asked for per second, at random, whatever becomes of them; None where sessions loop.
        pub arrival_rate_per_s: Option<f64> = None,
        /// CPU time of a transaction in the server, its rows with it, as a multiple of what was measured.
        pub cpu_factor: f64 = 1.0,
    }
}

impl Scenario {
    /// So many sessions that loop and commit single rows, on everything as it was measured.
    #[must_use]
    pub fn new(sessions: i64) -> Self {
        Self { sessions, ..Self::default() }
    }

    /// Check that there can be such a setting.
    ///
    /// # Errors
    /// The first factor whose value cannot be, or two that exclude each other.
    pub fn check(&self) -> Result<(), Refused> {
        for (name, value, least) in [
            ("sessions", self.sessions, 1),
            ("rows_per_commit", self.rows_per_commit, 1),
            ("commit_delay_us", self.commit_delay_us, 0),
        ] {
            if value < least {
                return wrong(format!("{name} is {value}; it must be at least {least}"));
            }
        }
        let above = [("cpus", self.cpus), ("arrival_rate_per_s", self.arrival_rate_per_s)];
        for (name, value) in above {
            match value {
                Some(value) if !(value > 0.0 && value.is_finite()) => {
                    let value = general(value);
                    return wrong(format!("{name} is {value}; it must be greater than 0"));
                }
                _ => {}
            }
        }
        let least =
            [("think_time_ms", Some(self.think_time_ms)), ("log_device_ms", self.log_device_ms)];
        for (name, value) in least {
            match value {
                Some(value) if !(value >= 0.0 && value.is_finite()) => {
                    let value = general(value);
                    return wrong(format!("{name} is {value}; it must be 0 or more"));
                }
                _ => {}
            }
        }
        let (smallest, largest) = CPU_FACTORS;
        if !(smallest..=largest).contains(&self.cpu_factor) {
            return wrong(format!(
                "cpu_factor is {}; it must be {} to {}",
                general(self.cpu_factor),
                general(smallest),
                general(largest)
            ));
        }
        if self.arrival_rate_per_s.is_some() && self.think_time_ms != 0.0 {
            return wrong(
                "arrival_rate_per_s and think_time_ms exclude each other: arrivals do not think"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

fn wrong(text: String) -> Result<(), Refused> {
    Err(Refused::Invalid(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_named() {
        let refused = |change: fn(&mut Scenario)| {
            let mut scenario = Scenario::new(8);
            change(&mut scenario);
            scenario.check().unwrap_err().to_string()
        };
        let said = refused(|it| it.sessions = 0);
        assert_eq!(said, "sessions is 0; it must be at least 1");
        let said = refused(|it| it.commit_delay_us = -1);
        assert_eq!(said, "commit_delay_us is -1; it must be at least 0");
        let said = refused(|it| it.cpus = Some(0.0));
        assert_eq!(said, "cpus is 0; it must be greater than 0");
        let said = refused(|it| it.log_device_ms = Some(f64::INFINITY));
        assert_eq!(said, "log_device_ms is inf; it must be 0 or more");
        let said = refused(|it| it.cpu_factor = 0.2);
        assert_eq!(said, "cpu_factor is 0.2; it must be 0.25 to 2");
        let said = refused(|it| (it.think_time_ms, it.arrival_rate_per_s) = (1.0, Some(1.0)));
        assert!(said.ends_with("exclude each other: arrivals do not think"));
        assert_eq!(Scenario::new(1).check(), Ok(()));
    }
}
