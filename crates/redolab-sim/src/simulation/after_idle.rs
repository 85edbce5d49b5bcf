//! A device that had nothing to do for a while takes longer, once.

use crate::distribution::whole;

/// Further device time of a flush, by how long the device idled before it.
pub struct AfterIdle {
    /// Time that it idled, and further time, from the shortest.
    points: Vec<(u64, u64)>,
}

impl AfterIdle {
    /// Take the points of the curve, nanoseconds both, in their order.
    pub fn new(points: &[(u64, u64)]) -> Self {
        Self { points: points.to_vec() }
    }

    /// Linear between the points; outside of them as at the nearest.
    #[expect(clippy::cast_precision_loss, reason = "durations of at most an hour")]
    pub fn more_ns(&self, idle_ns: u64) -> u64 {
        let place = self.points.partition_point(|&(point, _)| point <= idle_ns);
        match (place.checked_sub(1).map(|before| self.points[before]), self.points.get(place)) {
            (None, None) => 0,
            (Some((_, more_ns)), None) | (None, Some(&(_, more_ns))) => more_ns,
            (Some((low, before)), Some(&(high, after))) => {
                let share = (idle_ns - low) as f64 / (high - low) as f64;
                whole(before as f64 + share * (after as f64 - before as f64))
            }
        }
    }
}
