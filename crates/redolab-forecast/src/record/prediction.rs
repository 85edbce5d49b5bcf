//! Prediction intervals from a model's past errors.
//!
//! The width of an interval has two parts: the scatter of the calibration, and the model's own past errors in the
//! same family of settings. It comes from split conformal prediction on log(observed / forecast).
//!
//! Source: Lei, G'Sell, Rinaldo, Tibshirani and Wasserman, "Distribution-free predictive inference for regression",
//! Journal of the American Statistical Association 113 (2018).

use crate::refused::Refused;
use crate::statistics::quantiles::linear;
use crate::statistics::student::two_sided;
use crate::text::general;
use redolab_sim::exact_sum;

/// The probability of an interval where nothing else is said, 0 to 1.
pub const LEVEL: f64 = 0.90;
/// Standard deviation of ln(observed / forecast) that is assumed of a model before it was ever checked; of
/// PostgreSQL's way to commit.
pub const PRIOR: f64 = 0.15;
/// How many verified forecasts that assumption counts for.
pub const PRIOR_WEIGHT: u32 = 2;
/// How much wider an interval is beyond what was measured. With whole families of settings left out of the record
/// that intervals were made from, a nominal 90 % covered 62 to 82 %: of normal errors that is too narrow by 1.2 to
/// 1.9.
pub const EXTRAPOLATED: f64 = 2.0;
/// More verified forecasts than this are asked of no level.
const MOST_VERIFIED: usize = 10_000;

/// A forecast quantity with its prediction interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// The forecast.
    pub point: f64,
    /// The interval's low end.
    pub low: f64,
    /// Its high end.
    pub high: f64,
    /// The probability of the interval, 0 to 1.
    pub level: f64,
    /// Forecasts of this family that were verified before; 0: the width is a guess.
    pub verified: usize,
}

/// Verified forecasts that a conformal interval of this level needs: 9 for 90 %; None beyond ten thousand.
#[must_use]
pub fn least_verified(level: f64) -> Option<usize> {
    (1..MOST_VERIFIED).find(|&count| rank(count, level) <= count)
}

/// The interval around a forecast.
///
/// From `least_verified` earlier forecasts on, split conformal: a factor both ways, the ceil((n + 1) level)th smallest
/// of the n earlier |ln(observed / forecast)|. If the next error is exchangeable with the earlier ones, it covers with
/// probability `level` at least, and 1 / (n + 1) more at most, whatever their distribution. Forecasts checked in one
/// run share its calibration and are less than that: n overstates what is known. One factor serves both ways. Two
/// tails of their own would need 19 forecasts for 90 %. And the forecast of a model that always errs to one side would
/// lie outside its own interval.
///
/// With fewer, Student's t on the logarithm: the variance is `PRIOR` squared, counted as `PRIOR_WEIGHT` forecasts,
/// pooled with the earlier errors squared, and the calibration's variance is added.
///
/// In either case it is never narrower than the same share of the replicates, and `EXTRAPOLATED` times as wide on the
/// logarithm beyond what was measured.
///
/// - `replicates`: the same forecast from resampled calibrations.
/// - `log_ratios`: ln(observed / forecast) of the same model, family and quantity in earlier forecasts, of an
///   extrapolated one divided by `EXTRAPOLATED`.
/// - `extrapolated`: whether the scenario lies beyond what was measured.
///
/// Source: Lei et al. (2018), theorem 2.2, for the conformal interval; Gelman et al., Bayesian Data Analysis (2013),
/// section 2.6, for the pooled variance.
///
/// # Errors
/// A level that is none.
pub fn prediction_interval(
    point: f64,
    replicates: &[f64],
    log_ratios: &[f64],
    level: f64,
    extrapolated: bool,
) -> Result<Predicted, Refused> {
    if !(level > 0.0 && level < 1.0) {
        let given = general(level);
        return Err(Refused::Invalid(format!("the level is {given}; it must lie between 0 and 1")));
    }
    let verified = log_ratios.len();
    if point <= 0.0 {
        // A share or a time of nothing has no logarithm; what the replicates say is all there is.
        let low = replicates.iter().copied().fold(point, f64::min);
        let high = replicates.iter().copied().fold(point, f64::max);
        return Ok(Predicted { point, low, high, level, verified });
    }
    let known = replicates.iter().filter(|value| **value > 0.0);
    let mut logs: Vec<f64> = known.map(|value| libm::log(value / point)).collect();
    let half = match least_verified(level) {
        Some(least) if verified >= least => conformal(log_ratios, level),
        _ => student(log_ratios, &logs, level),
    };
    let half = if extrapolated { half * EXTRAPOLATED } else { half };
    logs.sort_unstable_by(f64::total_cmp);
    let end = |share| if logs.is_empty() { 0.0 } else { linear(&logs, share) };
    let (low, high) = (end((1.0 - level) / 2.0), end(f64::midpoint(1.0, level)));
    Ok(Predicted {
        point,
        low: point * libm::exp(low.min(-half)),
        high: point * libm::exp(high.max(half)),
        level,
        verified,
    })
}

/// Whether an interval is to be as wide as beyond what was measured: there, and where nothing was ever verified and
/// `PRIOR` says nothing.
///
/// - `prior_holds`: whether `PRIOR` was found on servers that commit alike.
/// - `verified`: whether an earlier forecast of the same model, system, family and quantity was verified.
#[must_use]
pub fn is_wide(extrapolated: bool, prior_holds: bool, verified: bool) -> bool {
    extrapolated || !(prior_holds || verified)
}

/// Which of `count` sorted errors bounds the next one; beyond `count` where none does.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most ten thousand"
)]
fn rank(count: usize, level: f64) -> usize {
    // (9 + 1) x 0.9 must be 9 however the product is rounded.
    let place = ((count + 1) as f64 * level * 1e9).round() / 1e9;
    place.ceil() as usize
}

fn conformal(log_ratios: &[f64], level: f64) -> f64 {
    let mut errors: Vec<f64> = log_ratios.iter().map(|value| value.abs()).collect();
    errors.sort_unstable_by(f64::total_cmp);
    errors[rank(errors.len(), level) - 1]
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 replicates")]
fn student(log_ratios: &[f64], replicates: &[f64], level: f64) -> f64 {
    let freedom = PRIOR_WEIGHT.saturating_add(u32::try_from(log_ratios.len()).unwrap_or(u32::MAX));
    let prior = f64::from(PRIOR_WEIGHT) * (PRIOR * PRIOR);
    let errors = (prior + exact_sum(squares(log_ratios))) / f64::from(freedom);
    let scatter = if replicates.is_empty() {
        0.0
    } else {
        exact_sum(squares(replicates)) / replicates.len() as f64
    };
    two_sided(level, freedom) * (errors + scatter).sqrt()
}

fn squares(values: &[f64]) -> impl Iterator<Item = f64> {
    values.iter().map(|value| value * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one / other - 1.0).abs() < 1e-12
    }

    fn half(replicates: &[f64], errors: &[f64], extrapolated: bool) -> f64 {
        let found = prediction_interval(100.0, replicates, errors, LEVEL, extrapolated).unwrap();
        assert!(near(found.low * found.high, 1e4));
        libm::log(found.high / 100.0)
    }

    #[test]
    fn a_level_needs_so_many_verified_forecasts() {
        assert_eq!([0.9, 0.95, 0.999_99].map(least_verified), [Some(9), Some(19), None]);
    }

    #[test]
    fn with_enough_of_them_it_is_an_order_statistic() {
        let errors = [0.01, -0.02, 0.03, -0.04, 0.05, -0.06, 0.07, -0.08, 0.09];
        assert!(near(half(&[], &errors, false), 0.09));
        assert!(near(half(&[], &errors, true), 0.18));
        let nineteen: Vec<f64> = (1..20).map(|value| f64::from(value) / 100.0).collect();
        assert!(near(half(&[], &nineteen, false), 0.18));
    }

    #[test]
    fn before_that_it_is_student_on_the_prior() {
        let t2 = 2.919_985_580_353_724;
        assert!(near(half(&[], &[], false), t2 * PRIOR));
        let pooled = ((2.0 * PRIOR * PRIOR + 2.0 * 0.09) / 4.0_f64).sqrt();
        assert!(near(half(&[], &[0.3, -0.3], false), 2.131_846_786_326_649_5 * pooled));
        let again = [0.2, -0.2].map(|value| 100.0 * libm::exp(value));
        assert!(near(half(&again, &[], false), t2 * (PRIOR * PRIOR + 0.04_f64).sqrt()));
    }

    #[test]
    fn a_system_that_was_never_checked_is_as_wide_as_what_was_not_measured() {
        assert!(is_wide(false, false, false) && is_wide(true, true, true));
        assert!(!is_wide(false, true, false) && !is_wide(false, false, true));
    }

    #[test]
    fn it_is_never_narrower_than_the_replicates() {
        let again: Vec<f64> =
            (0..101).map(|place| 100.0 * libm::exp(0.012 * f64::from(place) - 0.5)).collect();
        let found = prediction_interval(100.0, &again, &[0.001; 30], LEVEL, false).unwrap();
        assert!(near(libm::log(found.low / 100.0), -0.44));
        assert!(near(libm::log(found.high / 100.0), 0.64));
        assert_eq!(found.verified, 30);
    }

    #[test]
    fn what_has_no_logarithm_has_the_replicates() {
        let found = prediction_interval(0.0, &[0.0, 0.2], &[], LEVEL, true).unwrap();
        assert!(found.low.abs() < 1e-300 && near(found.high, 0.2));
        let refused = prediction_interval(1.0, &[], &[], 1.0, false).unwrap_err().to_string();
        assert_eq!(refused, "the level is 1; it must lie between 0 and 1");
    }
}
