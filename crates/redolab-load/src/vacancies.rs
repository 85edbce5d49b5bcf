//! Counts the free sessions of all threads, and knows since when any is free.
//!
//! A thread alone cannot tell: it may have none while another, which the system keeps from running, has many.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The free sessions of all threads.
#[derive(Default)]
pub(crate) struct Vacancies(Mutex<Vacant>);

#[derive(Default)]
struct Vacant {
    sessions: usize,
    since: Duration,
}

impl Vacancies {
    /// One more is free, from `since` on.
    pub(crate) fn add(&self, since: Duration) {
        let mut vacant = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if vacant.sessions == 0 {
            vacant.since = since;
        }
        vacant.sessions += 1;
    }

    /// One of them gets to do what was asked for at the moment `at`; returns whether one was free then.
    pub(crate) fn take(&self, at: Duration) -> bool {
        let mut vacant = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        vacant.sessions = vacant.sessions.saturating_sub(1);
        vacant.since <= at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_found_one_free_since_any_has_been() {
        let second = Duration::from_secs;
        let vacancies = Vacancies::default();
        vacancies.add(second(2));
        vacancies.add(second(4));
        // The first has been free since 2, so that only the client can be late for 3.
        assert!(vacancies.take(second(3)));
        assert!(!vacancies.take(second(1)));
        // None was until 6.
        vacancies.add(second(6));
        assert!(!vacancies.take(second(5)));
        vacancies.add(second(7));
        assert!(vacancies.take(second(7)));
    }
}
