//! A ratio of two sums, with the interval that its parts' scatter gives.

use crate::statistics::student::two_sided;
use redolab_sim::exact_sum;

/// The confidence level of every interval here, 0 to 1.
pub const LEVEL: f64 = 0.95;

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The mean.
    pub point: f64,
    /// The interval's low end.
    pub low: f64,
    /// Its high end.
    pub high: f64,
}

impl Interval {
    /// As far to either side.
    fn around(point: f64, half: f64) -> Self {
        Self { point, low: point - half, high: point + half }
    }
}

/// The sum of `above` by the sum of `below`, with the interval that the pairs' scatter gives; None where the
/// sum below is 0, or where there are fewer than two pairs.
///
/// Source: ratio estimator, Cochran, Sampling Techniques (1977), section 2.11.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 values")]
pub fn ratio_of_sums(above: &[f64], below: &[f64]) -> Option<Interval> {
    let whole = exact_sum(below.iter().copied());
    if whole == 0.0 || above.len() < 2 {
        return None;
    }
    let point = exact_sum(above.iter().copied()) / whole;
    let squares = above.iter().zip(below).map(|(one, other)| {
        let deviation = one - point * other;
        deviation * deviation
    });
    let count = above.len() as f64;
    let spread = (exact_sum(squares) / (count - 1.0) / count).sqrt();
    let freedom = u32::try_from(above.len() - 1).unwrap_or(u32::MAX);
    Some(Interval::around(point, two_sided(LEVEL, freedom) * spread / (whole / count)))
}

/// `point` with the interval that the scatter of `values` gives.
pub fn with_scatter(point: f64, values: &[f64]) -> Option<Interval> {
    let scatter = ratio_of_sums(values, &vec![1.0; values.len()])?;
    Some(Interval::around(point, scatter.high - scatter.point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_interval_is_that_of_the_deviations() {
        // Deviations from 2 are 1, 0, -1, 0: their standard error is sqrt(2 / 3 / 4), by a mean of 2 below.
        let seen = ratio_of_sums(&[5.0, 4.0, 3.0, 4.0], &[2.0; 4]).unwrap();
        let half = 3.182_446_305_283_708 * (2.0_f64 / 3.0 / 4.0).sqrt() / 2.0;
        for (found, expected) in
            [(seen.point, 2.0), (seen.low, 2.0 - half), (seen.high, 2.0 + half)]
        {
            assert!((found - expected).abs() < 1e-14, "{seen:?}");
        }
        let shifted = with_scatter(7.0, &[5.0, 4.0, 3.0, 4.0]).unwrap();
        assert!((shifted.high - 7.0 - 2.0 * half).abs() < 1e-14, "{shifted:?}");
    }

    #[test]
    fn by_nothing_there_is_none() {
        assert_eq!(ratio_of_sums(&[1.0, 2.0], &[0.0, 0.0]), None);
        assert_eq!(ratio_of_sums(&[1.0], &[1.0]), None);
    }
}
