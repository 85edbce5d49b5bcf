//! The intervals of what is forecast of a setting.

use crate::record::prediction::{LEVEL, Predicted, least_verified, prediction_interval};
use crate::refused::Refused;

/// The quantity whose past errors are those of another: a row of a commit is as wrong as the commit.
#[must_use]
pub fn scored(quantity: &str) -> &str {
    if quantity == "rows_per_s" { "throughput_per_s" } else { quantity }
}

/// The prediction interval of a quantity by its name; a share of time is no more than all of it.
///
/// - `replicates`: the same forecast from resampled calibrations.
/// - `errors`: of the `scored` quantity in earlier forecasts of the family, as `prediction_interval` has them.
/// - `extrapolated`: whether the scenario lies beyond what was measured.
///
/// # Errors
/// None: the level is one.
pub fn predicted(
    quantity: &str,
    point: f64,
    replicates: &[f64],
    errors: &[f64],
    extrapolated: bool,
) -> Result<Predicted, Refused> {
    let predicted = prediction_interval(point, replicates, errors, LEVEL, extrapolated)?;
    let is_share = matches!(quantity, "cpu_utilization" | "device_utilization");
    Ok(if is_share { Predicted { high: predicted.high.min(1.0), ..predicted } } else { predicted })
}

/// The prediction interval of a ratio to the forecast of today's setting.
///
/// The model's past errors of such ratios widen it. Where too few were ever checked, its errors of the quantity itself
/// do: of today's setting, from which the model was calibrated, it errs little.
///
/// # Errors
/// None: the level is one.
pub fn predicted_ratio(
    point: f64,
    replicates: &[f64],
    of_ratio: &[f64],
    of_quantity: &[f64],
    extrapolated: bool,
) -> Result<Predicted, Refused> {
    let enough = least_verified(LEVEL).is_some_and(|least| of_ratio.len() >= least);
    let errors = if enough { of_ratio } else { of_quantity };
    prediction_interval(point, replicates, errors, LEVEL, extrapolated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_time_is_no_more_than_all_of_it() {
        let high = |name| predicted(name, 0.95, &[], &[], false).unwrap().high;
        assert!((high("cpu_utilization") - 1.0).abs() < 1e-15);
        assert!(high("commits_per_flush") > 1.4);
    }

    #[test]
    fn nine_errors_of_the_ratio_are_enough() {
        let verified = |count| {
            let (of_ratio, of_quantity) = (vec![0.1; count], [0.2; 30]);
            predicted_ratio(2.0, &[], &of_ratio, &of_quantity, false).unwrap().verified
        };
        assert_eq!([8, 9].map(verified), [30, 9]);
        assert_eq!(
            ["rows_per_s", "commit_time_ms"].map(scored),
            ["throughput_per_s", "commit_time_ms"]
        );
    }
}
