//! The interval of an answer.

use crate::record::prediction::LEVEL;
use crate::statistics::quantiles::inverted;

/// The middle 90 % of what resampled calibrations answer, and the answer itself within; None where none answers.
#[must_use]
pub fn answer_interval(point: f64, replicates: &[f64]) -> Option<(f64, f64)> {
    if replicates.is_empty() {
        return None;
    }
    let mut sorted = replicates.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - LEVEL) / 2.0;
    let (low, high) = (inverted(&sorted, tail), inverted(&sorted, 1.0 - tail));
    Some((low.min(point), high.max(point)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_the_middle_of_the_answers_and_the_answer() {
        let forty: Vec<f64> = (1..=40).rev().map(f64::from).collect();
        assert_eq!(answer_interval(20.0, &forty), Some((2.0, 38.0)));
        assert_eq!(answer_interval(1.0, &forty), Some((1.0, 38.0)));
        assert_eq!(answer_interval(1.0, &[]), None);
    }
}
