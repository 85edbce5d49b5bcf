//! How long waits last, from looks far apart: which gaps between two looks may count.
//!
//! Waits end at the rate (number of waits) / (time spent in them). Watch a wait from a random
//! moment on, for a time shorter than any wait of its kind: the chance that it ends meanwhile is
//! that time over the mean wait, whatever the waits' lengths are (the residual life of a renewal
//! process, Cox, Renewal Theory, 1962, 5.2). So time watched over ends seen is the mean wait.
//!
//! The two readings of one look are such a time: a few microseconds, shorter than every wait that
//! sleeps, but too short to see many ends of waits of milliseconds. The gap between two looks is a
//! longer one: a process that has not run in between is still in the same wait. Such gaps count as
//! long as nearly all waits outlast gaps of their length. Whether they do is judged by the earlier
//! gaps alone: a gap that decided over itself would count the likelier the longer its wait is.

use std::collections::HashMap;

/// Gaps of 1 µs to an hour, in classes that double.
const CLASSES: usize = 32;

#[derive(Clone, Copy, Default)]
struct Class {
    gaps: u32,
    outlasted: u32,
}

/// For each event, how many waits outlasted gaps of each length so far.
#[derive(Default)]
pub struct Lengths(HashMap<u32, [Class; CLASSES]>);

impl Lengths {
    /// Takes note of a gap in a wait of `event`, and tells whether it counts.
    pub fn counts(&mut self, event: u32, gap_ns: u64, outlasted: bool) -> bool {
        let doublings = (gap_ns >> 10).checked_ilog2().unwrap_or(0);
        let classes = self.0.entry(event).or_default();
        let class = &mut classes[(doublings as usize).min(CLASSES - 1)];
        // Four waits in five; two gaps that went wrong stand in for those not seen yet.
        let counts = 5 * class.outlasted >= 4 * (class.gaps + 2);
        class.gaps += 1;
        class.outlasted += u32::from(outlasted);
        counts
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MEAN_GAP_NS: f64 = 20e6;
    const LOOK_NS: f64 = 5e3;

    /// Mean wait as told by looks at a process that does nothing but wait.
    fn told(mean_ns: f64, length: impl Fn(&mut fastrand::Rng) -> f64, seed: u64) -> f64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut exponential = move |mean: f64| -mean * (1.0 - random.f64()).ln();
        let mut lengths_random = fastrand::Rng::with_seed(seed + 1);
        let mut lengths = Lengths::default();
        let (mut exposure, mut ends) = (0.0, 0_u32);
        let (mut now, mut wait, mut wait_ends) = (0.0, 0_u64, 0.0);
        let mut looked_at = None;
        // Enough to see the bias rather than chance.
        let looks = (2e7 * mean_ns / MEAN_GAP_NS).clamp(1e4, 1e5);
        let mut done = 0.0;
        while done < looks {
            done += 1.0;
            let gap = exponential(MEAN_GAP_NS);
            now += gap;
            while wait_ends <= now {
                wait += 1;
                wait_ends += length(&mut lengths_random);
            }
            if let Some(before) = looked_at {
                let gap_ns = Duration::from_secs_f64(gap / 1e9).as_nanos();
                let gap_ns = u64::try_from(gap_ns).expect("a gap");
                if lengths.counts(1, gap_ns, before == wait) {
                    exposure += gap;
                    ends += u32::from(before != wait);
                }
            }
            looked_at = Some(wait);
            exposure += LOOK_NS;
            ends += u32::from(wait_ends <= now + LOOK_NS);
        }
        exposure / f64::from(ends) / mean_ns
    }

    /// What the mean is told too long by depends on how different the waits of one event are: the
    /// few long ones fill most of the time, so most looks fall on them.
    #[test]
    fn the_mean_wait_is_told_from_20_us_to_500_ms() {
        for mean_us in [20.0, 200.0, 1e3, 3e3, 10e3, 30e3, 100e3, 500e3] {
            let mean = mean_us * 1e3;
            let either = |r: &mut fastrand::Rng, times| if r.bool() { 1.0 } else { times };
            let constant = told(mean, |_| mean, 1);
            let exponential = told(mean, |r| -mean * (1.0 - r.f64()).ln(), 2);
            let tenfold = told(mean, |r| mean / 5.5 * either(r, 10.0), 3);
            let hundredfold = told(mean, |r| mean / 50.5 * either(r, 100.0), 4);
            let all = format!("{mean_us} {constant} {exponential} {tenfold} {hundredfold}");
            assert!((0.9..1.1).contains(&constant), "{all}");
            assert!((0.9..1.2).contains(&exponential), "{all}");
            assert!((0.9..1.2).contains(&tenfold), "{all}");
            assert!((0.9..2.0).contains(&hundredfold), "{all}");
        }
    }
}
