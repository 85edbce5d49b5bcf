//! How much longer a flush takes on a device that had nothing to do for a while.

use crate::rounding::whole;

/// Further device time of a flush before which the device has idled for `idle_ns`. `points` are times that it
/// idled and further times, nanoseconds, from the shortest; linear between them, outside of them as at the
/// nearest.
#[expect(clippy::cast_precision_loss, reason = "durations of at most an hour")]
pub fn more_ns(points: &[(u64, u64)], idle_ns: u64) -> u64 {
    let place = points.partition_point(|&(point, _)| point <= idle_ns);
    match (place.checked_sub(1).map(|before| points[before]), points.get(place)) {
        (None, None) => 0,
        (Some((_, more_ns)), None) | (None, Some(&(_, more_ns))) => more_ns,
        (Some((low, before)), Some(&(high, after))) => {
            let share = (idle_ns - low) as f64 / (high - low) as f64;
            whole(before as f64 + share * (after as f64 - before as f64))
        }
    }
}
