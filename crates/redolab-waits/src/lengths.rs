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
