//! The schedule of transactions that are asked for at random moments, one for all threads.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use tokio::sync::Barrier;

use crate::alarm;
use crate::amount::Amount;
use crate::vacancies::Vacancies;

/// When transactions are asked for: exponential gaps, so that they come at random (a Poisson process).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrivals {
    /// Transactions per second, on average.
    pub rate_per_s: f64,
    /// The same seed gives the same moments.
    pub seed: u64,
}

/// The moments, which all threads take in order, each when one of its sessions is free.
pub(crate) struct Schedule {
    gaps: Mutex<Gaps>,
    end: End,
    ready: Barrier,
    start: OnceLock<Duration>,
    pub(crate) vacancies: Vacancies,
}

/// Where the schedule ends.
#[derive(Clone, Copy)]
enum End {
    At(Duration),
    After(u64),
}

impl Schedule {
    /// Take when transactions come, how many, and how many `sessions` there are to do them.
    pub(crate) fn new(
        arrivals: Arrivals,
        amount: Amount,
        rows_per_commit: u32,
        sessions: usize,
    ) -> Self {
        let end = match amount {
            Amount::For(time) => End::At(time),
            Amount::Rows(rows) => End::After(rows.div_ceil(u64::from(rows_per_commit))),
        };
        Self {
            gaps: Mutex::new(Gaps::new(arrivals)),
            end,
            ready: Barrier::new(sessions),
            start: OnceLock::new(),
            vacancies: Vacancies::default(),
        }
    }

    /// Wait for all sessions to be ready; then the schedule starts, for all at the same time.
    pub(crate) async fn begin(&self) {
        self.ready.wait().await;
        self.start();
    }

    /// When it started; it does when this is asked for the first time.
    pub(crate) fn start(&self) -> Duration {
        *self.start.get_or_init(alarm::now)
    }

    /// Take the next moment, from the start; None when all are taken.
    pub(crate) fn take(&self) -> Option<Duration> {
        let mut gaps = self.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        let within = match self.end {
            End::At(end) => gaps.next < end,
            End::After(count) => gaps.taken < count,
        };
        within.then(|| gaps.step())
    }

    /// When the sessions stop whatever is left.
    pub(crate) fn limit(&self) -> Option<Duration> {
        match self.end {
            End::At(end) => Some(self.start() + end),
            End::After(_) => None,
        }
    }

    /// Whether they have to.
    pub(crate) fn is_over(&self) -> bool {
        self.limit().is_some_and(|limit| alarm::now() >= limit)
    }

    /// Take all moments that are left, and say how many they were.
    pub(crate) fn left(&self) -> u64 {
        std::iter::from_fn(|| self.take()).map(|_| 1).sum()
    }
}

/// Moments that follow each other.
struct Gaps {
    random: Xoshiro256PlusPlus,
    mean_s: f64,
    next: Duration,
    taken: u64,
}

impl Gaps {
    fn new(arrivals: Arrivals) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(arrivals.seed);
        let mean_s = 1.0 / arrivals.rate_per_s;
        let mut gaps = Self { random, mean_s, next: Duration::ZERO, taken: 0 };
        gaps.next = gaps.gap();
        gaps
    }

    fn step(&mut self) -> Duration {
        let moment = self.next;
        self.next = moment.saturating_add(self.gap());
        self.taken += 1;
        moment
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    fn gap(&mut self) -> Duration {
        // Above 0, up to and with 1.
        let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
        Duration::try_from_secs_f64(-uniform.ln() * self.mean_s).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(rate_per_s: f64, seed: u64, amount: Amount) -> Vec<Duration> {
        let schedule = Schedule::new(Arrivals { rate_per_s, seed }, amount, 32, 3);
        std::iter::from_fn(|| schedule.take()).collect()
    }

    #[test]
    fn the_gaps_are_exponential() {
        let taken = moments(5_000.0, 7, Amount::Rows(3_200_000));
        assert_eq!(taken.len(), 100_000);
        let at: Vec<f64> = taken.iter().map(|moment| moment.as_secs_f64() * 5_000.0).collect();
        let mut gaps: Vec<f64> =
            std::iter::once(at[0]).chain(at.windows(2).map(|pair| pair[1] - pair[0])).collect();
        gaps.sort_by(f64::total_cmp);
        // Kolmogorov's statistic: at most 1.95 / sqrt(n) but in one of 1,000 such tests.
        let mut farthest: f64 = 0.0;
        for (place, &x) in (0_u32..).zip(&gaps) {
            let share = -(-x).exp_m1() * 100_000.0 - f64::from(place);
            farthest = farthest.max(share.abs()).max((share - 1.0).abs());
        }
        assert!(farthest / 100_000_f64.sqrt() < 1.95, "{farthest}");
    }

    #[test]
    fn the_same_seed_gives_the_same_moments_and_another_one_others() {
        let amount = Amount::For(Duration::from_secs(2));
        assert_eq!(moments(900.0, 1, amount), moments(900.0, 1, amount));
        assert_ne!(moments(900.0, 1, amount), moments(900.0, 2, amount));
    }

    #[test]
    fn all_moments_lie_in_the_time_and_what_is_left_is_counted() {
        let time = Duration::from_secs(10);
        let taken = moments(1_000.0, 3, Amount::For(time));
        assert!(taken.is_sorted() && taken.iter().all(|moment| *moment < time));
        // Within four standard deviations of a Poisson count.
        assert!((9_600..10_400).contains(&taken.len()), "{}", taken.len());
        let arrivals = Arrivals { rate_per_s: 1_000.0, seed: 3 };
        let schedule = Schedule::new(arrivals, Amount::For(time), 1, 1);
        assert_eq!(schedule.take(), Some(taken[0]));
        assert_eq!(schedule.left() + 1, taken.len() as u64);
    }

    #[test]
    fn rows_are_rounded_up_to_whole_transactions() {
        assert_eq!(moments(1.0, 1, Amount::Rows(65)).len(), 3);
        assert_eq!(moments(1.0, 1, Amount::Rows(64)).len(), 2);
        assert_eq!(moments(1.0, 1, Amount::Rows(0)).len(), 0);
    }

    #[test]
    fn a_rate_so_low_that_nothing_comes_ends() {
        assert_eq!(moments(1e-300, 1, Amount::For(Duration::from_secs(1))), []);
    }
}
