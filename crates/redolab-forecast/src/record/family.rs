//! Families of settings.

use crate::costs::scenario::{Scenario, Waits};

/// From so many rows per commit on, batches are a family of their own.
const LARGE_BATCH: i64 = 128;

/// Every family there is.
pub const FAMILIES: [&str; 8] = [
    "CPU factor",
    "open arrivals",
    "nowait",
    "one of two logs",
    "commit delay",
    "large batches",
    "batches",
    "single rows",
];

/// The family of settings that a scenario belongs to: those in which a model errs alike.
#[must_use]
#[expect(clippy::float_cmp, reason = "exactly 1 is what was measured")]
pub fn family_of(scenario: &Scenario) -> &'static str {
    if scenario.cpu_factor != 1.0 {
        FAMILIES[0]
    } else if scenario.arrival_rate_per_s.is_some() {
        FAMILIES[1]
    } else if scenario.commit_wait == Waits::Nothing {
        FAMILIES[2]
    } else if scenario.commit_wait != Waits::All {
        FAMILIES[3]
    } else if scenario.commit_delay_us != 0 {
        FAMILIES[4]
    } else if scenario.rows_per_commit >= LARGE_BATCH {
        FAMILIES[5]
    } else if scenario.rows_per_commit > 1 {
        FAMILIES[6]
    } else {
        FAMILIES[7]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_fits_is_the_family() {
        let mut scenario = Scenario::new(8);
        assert_eq!(family_of(&scenario), "single rows");
        scenario.rows_per_commit = 127;
        assert_eq!(family_of(&scenario), "batches");
        scenario.rows_per_commit = 128;
        assert_eq!(family_of(&scenario), "large batches");
        scenario.commit_delay_us = 1;
        assert_eq!(family_of(&scenario), "commit delay");
        scenario.commit_wait = Waits::Second;
        assert_eq!(family_of(&scenario), "one of two logs");
        scenario.commit_wait = Waits::Nothing;
        assert_eq!(family_of(&scenario), "nowait");
        scenario.arrival_rate_per_s = Some(1.0);
        assert_eq!(family_of(&scenario), "open arrivals");
        scenario.cpu_factor = 0.5;
        assert_eq!(family_of(&scenario), "CPU factor");
    }
}
