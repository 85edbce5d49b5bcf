//! The histogram of commit times, of a fixed relative precision.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Values keep three significant digits.
const DIGITS: u8 = 3;
/// Told apart down to this, in nanoseconds.
const LOWEST: u64 = 1_000;
/// An hour: longer ones count as this long.
const HIGHEST: u64 = 3_600_000_000_000;

/// How many commits took how long.
#[derive(Clone, Debug)]
pub struct Latency(Histogram<u64>);

impl Default for Latency {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(LOWEST, HIGHEST, DIGITS);
        Self(histogram.expect("the bounds are constants that fit"))
    }
}

impl Latency {
    /// Note one commit.
    pub(crate) fn note(&mut self, time: Duration) {
        self.0.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(HIGHEST));
    }

    /// Add the commits of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    /// Every occupied bucket in ascending order: its upper bound in nanoseconds, and its commits.
    #[must_use]
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        self.0
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_at_most_a_thousandth_wide_and_never_below_what_it_holds() {
        for ns in [1_500, 15_250, 1_234_567, 42_000_000_000] {
            let mut latency = Latency::default();
            latency.note(Duration::from_nanos(ns));
            let [(upper, 1)] = latency.buckets()[..] else { panic!("{:?}", latency.buckets()) };
            assert!(upper >= ns, "{upper} holds {ns}");
            // At the lowest values a bucket is half a microsecond.
            assert!(upper - ns <= (ns / 1_000).max(512), "{upper} holds {ns}");
        }
    }

    #[test]
    fn what_is_merged_is_counted_once() {
        let (mut one, mut other) = (Latency::default(), Latency::default());
        one.note(Duration::from_millis(1));
        one.note(Duration::from_millis(2));
        other.note(Duration::from_millis(2));
        one.merge(&other);
        let counts: Vec<u64> = one.buckets().into_iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [1, 2]);
    }

    #[test]
    fn a_commit_of_more_than_an_hour_is_counted_as_one_of_an_hour() {
        let mut latency = Latency::default();
        latency.note(Duration::from_secs(9_000));
        let [(upper, 1)] = latency.buckets()[..] else { panic!("{:?}", latency.buckets()) };
        assert!((HIGHEST..HIGHEST + HIGHEST / 1_000).contains(&upper), "{upper}");
    }
}
