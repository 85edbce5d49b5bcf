//! How much longer a flush takes on a device that had nothing to do for a while.

use crate::rounding::whole;
use crate::span::Span;

/// Further device time of a flush before which the device has idled for `idle_ns`. `points` are times that it
/// idled and further times, from the shortest; linear between them, outside of them as at the
/// nearest.
#[expect(clippy::cast_precision_loss, reason = "durations of at most an hour")]
pub fn more_ns(points: &[(Span, Span)], idle_ns: u64) -> u64 {
    let place = points.partition_point(|(point, _)| point.ns() <= idle_ns);
    let ns = |&(idled, more): &(Span, Span)| (idled.ns(), more.ns());
    match (place.checked_sub(1).map(|before| ns(&points[before])), points.get(place).map(ns)) {
        (None, None) => 0,
        (Some((_, more_ns)), None) | (None, Some((_, more_ns))) => more_ns,
        (Some((low, before)), Some((high, after))) => {
            let share = (idle_ns - low) as f64 / (high - low) as f64;
            whole(before as f64 + share * (after as f64 - before as f64))
        }
    }
}
