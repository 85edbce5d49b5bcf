//! Random durations: how they are described, and the moments of that.

use std::fmt;

use crate::sums::exact_sum;

/// What cannot be simulated, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid(pub String);

impl fmt::Display for Invalid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Invalid {}

/// The distribution of a duration: in seconds as it is described, in nanoseconds as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant {
        /// That duration.
        mean: f64,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean: f64,
    },
    /// Gamma: an exponential has a coefficient of variation of 1.
    Gamma {
        /// Its mean.
        mean: f64,
        /// Standard deviation over mean, above 0.
        cv: f64,
    },
    /// The logarithm is normal.
    Lognormal {
        /// Its mean (not its median).
        mean: f64,
        /// Standard deviation over mean, above 0.
        cv: f64,
    },
    /// One of two durations.
    TwoValued {
        /// What it usually is.
        usual: f64,
        /// What it rarely is.
        rare: f64,
        /// How often it is that, 0 to 1.
        rare_share: f64,
    },
    /// As measured: quantiles at equal steps from the least to the most, linear between them.
    Quantiles {
        /// At least two, none below the one before.
        values: Vec<f64>,
    },
}

impl Distribution {
    /// Nothing at all.
    pub const NOTHING: Self = Self::Constant { mean: 0.0 };

    /// A distribution by the name of its shape and its values, as Python's `Distribution` has them.
    ///
    /// # Errors
    /// There is no such shape, or it has another number of values.
    pub fn of(shape: &str, values: &[f64]) -> Result<Self, Invalid> {
        Ok(match (shape, values) {
            ("constant", &[mean]) => Self::Constant { mean },
            ("exponential", &[mean]) => Self::Exponential { mean },
            ("gamma", &[mean, cv]) => Self::Gamma { mean, cv },
            ("lognormal", &[mean, cv]) => Self::Lognormal { mean, cv },
            ("two_valued", &[usual, rare, rare_share]) => {
                Self::TwoValued { usual, rare, rare_share }
            }
            ("quantiles", values) => Self::Quantiles { values: values.to_vec() },
            (shape, values) => {
                let count = values.len();
                return Err(Invalid(format!(
                    "there is no distribution {shape:?} of {count} values"
                )));
            }
        })
    }

    /// The name of its shape, and its values in the order of `of`.
    #[must_use]
    pub fn described(&self) -> (&'static str, Vec<f64>) {
        match *self {
            Self::Constant { mean } => ("constant", vec![mean]),
            Self::Exponential { mean } => ("exponential", vec![mean]),
            Self::Gamma { mean, cv } => ("gamma", vec![mean, cv]),
            Self::Lognormal { mean, cv } => ("lognormal", vec![mean, cv]),
            Self::TwoValued { usual, rare, rare_share } => {
                ("two_valued", vec![usual, rare, rare_share])
            }
            Self::Quantiles { ref values } => ("quantiles", values.clone()),
        }
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant { mean }
            | Self::Exponential { mean }
            | Self::Gamma { mean, .. }
            | Self::Lognormal { mean, .. } => *mean,
            Self::TwoValued { usual, rare, rare_share } => usual + (rare - usual) * rare_share,
            Self::Quantiles { values } => mean_over_steps(values, f64::midpoint),
        }
    }

    /// The coefficient of variation: standard deviation over mean; 0 where the mean is 0.
    #[must_use]
    pub fn cv(&self) -> f64 {
        let mean = self.mean();
        if mean == 0.0 {
            return 0.0;
        }
        match self {
            Self::Constant { .. } => 0.0,
            Self::Exponential { .. } => 1.0,
            Self::Gamma { cv, .. } | Self::Lognormal { cv, .. } => *cv,
            Self::TwoValued { usual, rare, rare_share } => {
                (rare - usual).abs() * (rare_share * (1.0 - rare_share)).sqrt() / mean
            }
            Self::Quantiles { values } => {
                // The second moment of a uniform stretch from a to b is (a^2 + a b + b^2) / 3.
                let second = mean_over_steps(values, |a, b| (a * a + a * b + b * b) / 3.0);
                (second - mean * mean).max(0.0).sqrt() / mean
            }
        }
    }

    /// The same in nanoseconds, of one in seconds.
    #[must_use]
    pub fn nanoseconds(&self) -> Self {
        match *self {
            Self::Constant { mean } => Self::Constant { mean: mean * 1e9 },
            Self::Exponential { mean } => Self::Exponential { mean: mean * 1e9 },
            Self::Gamma { mean, cv } => Self::Gamma { mean: mean * 1e9, cv },
            Self::Lognormal { mean, cv } => Self::Lognormal { mean: mean * 1e9, cv },
            Self::TwoValued { usual, rare, rare_share } => {
                Self::TwoValued { usual: usual * 1e9, rare: rare * 1e9, rare_share }
            }
            Self::Quantiles { ref values } => {
                Self::Quantiles { values: values.iter().map(|value| value * 1e9).collect() }
            }
        }
    }

    /// The distribution of the sum of `count` independent durations.
    ///
    /// # Errors
    /// The sum has no simple form: only constant, exponential and gamma have one.
    pub fn sum_of(&self, count: u32) -> Result<Self, Invalid> {
        let times = f64::from(count);
        match *self {
            _ if count == 0 => Ok(Self::NOTHING),
            _ if count == 1 => Ok(self.clone()),
            Self::Constant { mean } => Ok(Self::Constant { mean: mean * times }),
            Self::Exponential { mean } => {
                Ok(Self::Gamma { mean: mean * times, cv: 1.0 / times.sqrt() })
            }
            Self::Gamma { mean, cv } => {
                Ok(Self::Gamma { mean: mean * times, cv: cv / times.sqrt() })
            }
            _ => Err(Invalid(
                "CPU time per row must be constant, exponential or gamma, so that rows can be summed"
                    .to_owned(),
            )),
        }
    }

    /// Check that it can be drawn, of one in seconds; `name` says in the error whose distribution it is.
    ///
    /// # Errors
    /// A duration below 0 or not finite, a variation that is not above 0, a share outside 0 to 1,
    /// quantiles that are too few or fall.
    pub fn check(&self, name: &str) -> Result<(), Invalid> {
        let wrong = |what: String| Err(Invalid(format!("{name}: {what}")));
        let duration = |value: f64| (0.0..=LONGEST_NS).contains(&value);
        match &self.nanoseconds() {
            Self::Constant { mean } | Self::Exponential { mean } if !duration(*mean) => {
                wrong(format!("{mean} ns is no duration between 0 and an hour"))
            }
            Self::Gamma { mean, cv } | Self::Lognormal { mean, cv } => {
                if !duration(*mean) {
                    wrong(format!("{mean} ns is no duration between 0 and an hour"))
                } else if !(*cv > 0.0 && cv.is_finite()) {
                    wrong(format!("a coefficient of variation of {cv} is not above 0"))
                } else {
                    Ok(())
                }
            }
            Self::TwoValued { usual, rare, rare_share } => {
                if !duration(*usual) || !duration(*rare) {
                    wrong(format!("{usual} and {rare} ns are not both between 0 and an hour"))
                } else if !(0.0..=1.0).contains(rare_share) {
                    wrong(format!("a share of {rare_share} is not between 0 and 1"))
                } else {
                    Ok(())
                }
            }
            Self::Quantiles { values } => {
                if values.len() < 2 {
                    wrong("there must be at least two quantiles".to_owned())
                } else if !values.iter().all(|&value| duration(value)) || !values.is_sorted() {
                    wrong("quantiles must lie between 0 and an hour and not fall".to_owned())
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }
}

/// An hour: what no duration here exceeds, so that sums of them fit an integer.
const LONGEST_NS: f64 = 3.6e12;

/// The mean over the stretches between neighbours of what a stretch has.
#[expect(clippy::cast_precision_loss, reason = "nobody gives 2^53 quantiles")]
fn mean_over_steps(values: &[f64], of_step: impl Fn(f64, f64) -> f64) -> f64 {
    let steps = values.windows(2).map(|pair| of_step(pair[0], pair[1]));
    exact_sum(steps) / values.len().saturating_sub(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-14
    }

    #[test]
    fn moments_are_those_of_the_shape() {
        let usual = Distribution::TwoValued { usual: 1.0, rare: 11.0, rare_share: 0.1 };
        assert!(near(usual.mean(), 2.0) && near(usual.cv(), 1.5));
        // Uniform from 1 to 3, in one stretch and in two.
        for values in [vec![1.0, 3.0], vec![1.0, 2.0, 3.0]] {
            let uniform = Distribution::Quantiles { values };
            assert!(near(uniform.mean(), 2.0));
            assert!(near(uniform.cv(), (1.0_f64 / 3.0).sqrt() / 2.0));
        }
        assert!(near(Distribution::Exponential { mean: 0.3 }.cv(), 1.0));
        assert!(near(Distribution::Gamma { mean: 0.3, cv: 0.4 }.cv(), 0.4));
        assert!(near(Distribution::NOTHING.cv(), 0.0));
    }

    #[test]
    fn names_and_values_describe_it() {
        for (shape, values) in [
            ("constant", vec![1.0]),
            ("exponential", vec![1.0]),
            ("gamma", vec![1.0, 2.0]),
            ("lognormal", vec![1.0, 2.0]),
            ("two_valued", vec![1.0, 2.0, 0.5]),
            ("quantiles", vec![1.0, 2.0]),
        ] {
            let made = Distribution::of(shape, &values).unwrap();
            assert_eq!(made.described(), (shape, values.clone()));
            assert!((made.nanoseconds().mean() - 1e9 * made.mean()).abs() < 1e-3);
        }
        let text = "there is no distribution \"gamma\" of 1 values".to_owned();
        assert_eq!(Distribution::of("gamma", &[1.0]), Err(Invalid(text)));
    }
}
