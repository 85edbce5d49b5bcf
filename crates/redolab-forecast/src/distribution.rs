//! How durations vary: the description that the simulator draws from, in seconds, and its moments.

use crate::refused::Refused;
use crate::statistics::sums::exact_sum;

/// The distribution of a duration, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant {
        /// That duration.
        mean_s: f64,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean_s: f64,
    },
    /// Gamma: an exponential has a coefficient of variation of 1.
    Gamma {
        /// Its mean.
        mean_s: f64,
        /// Standard deviation over mean.
        cv: f64,
    },
    /// The logarithm is normal.
    Lognormal {
        /// Its mean (not its median).
        mean_s: f64,
        /// Standard deviation over mean.
        cv: f64,
    },
    /// One of two durations.
    TwoValued {
        /// What it usually is.
        usual_s: f64,
        /// What it rarely is.
        rare_s: f64,
        /// How often it is that, 0 to 1.
        rare_share: f64,
    },
    /// As measured: quantiles at equal steps from the least to the most, linear between them.
    Quantiles {
        /// At least two, none below the one before.
        values_s: Vec<f64>,
    },
}

impl Distribution {
    /// Nothing at all.
    pub const NOTHING: Self = Self::Constant { mean_s: 0.0 };

    /// A distribution by the name of its shape and its values, as Python's `Distribution` has them.
    ///
    /// # Errors
    /// There is no such shape, or it has another number of values.
    pub fn of(shape: &str, values: &[f64]) -> Result<Self, Refused> {
        Ok(match (shape, values) {
            ("constant", &[mean_s]) => Self::Constant { mean_s },
            ("exponential", &[mean_s]) => Self::Exponential { mean_s },
            ("gamma", &[mean_s, cv]) => Self::Gamma { mean_s, cv },
            ("lognormal", &[mean_s, cv]) => Self::Lognormal { mean_s, cv },
            ("two_valued", &[usual_s, rare_s, rare_share]) => {
                Self::TwoValued { usual_s, rare_s, rare_share }
            }
            ("quantiles", values) => Self::Quantiles { values_s: values.to_vec() },
            (shape, values) => {
                let count = values.len();
                return Err(Refused::Invalid(format!(
                    "there is no distribution {shape:?} of {count} values"
                )));
            }
        })
    }

    /// The name of its shape, and its values in the order of `of`.
    #[must_use]
    pub fn described(&self) -> (&'static str, Vec<f64>) {
        match *self {
            Self::Constant { mean_s } => ("constant", vec![mean_s]),
            Self::Exponential { mean_s } => ("exponential", vec![mean_s]),
            Self::Gamma { mean_s, cv } => ("gamma", vec![mean_s, cv]),
            Self::Lognormal { mean_s, cv } => ("lognormal", vec![mean_s, cv]),
            Self::TwoValued { usual_s, rare_s, rare_share } => {
                ("two_valued", vec![usual_s, rare_s, rare_share])
            }
            Self::Quantiles { ref values_s } => ("quantiles", values_s.clone()),
        }
    }

    /// The mean, in seconds.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        match self {
            Self::Constant { mean_s }
            | Self::Exponential { mean_s }
            | Self::Gamma { mean_s, .. }
            | Self::Lognormal { mean_s, .. } => *mean_s,
            Self::TwoValued { usual_s, rare_s, rare_share } => {
                usual_s + (rare_s - usual_s) * rare_share
            }
            Self::Quantiles { values_s } => mean_over_steps(values_s, f64::midpoint),
        }
    }

    /// The coefficient of variation: standard deviation over mean; 0 where the mean is 0.
    #[must_use]
    pub fn cv(&self) -> f64 {
        let mean_s = self.mean_s();
        if mean_s == 0.0 {
            return 0.0;
        }
        match self {
            Self::Constant { .. } => 0.0,
            Self::Exponential { .. } => 1.0,
            Self::Gamma { cv, .. } | Self::Lognormal { cv, .. } => *cv,
            Self::TwoValued { usual_s, rare_s, rare_share } => {
                (rare_s - usual_s).abs() * (rare_share * (1.0 - rare_share)).sqrt() / mean_s
            }
            Self::Quantiles { values_s } => {
                // The second moment of a uniform stretch from a to b is (a^2 + a b + b^2) / 3.
                let second = mean_over_steps(values_s, |a, b| (a * a + a * b + b * b) / 3.0);
                (second - mean_s * mean_s).max(0.0).sqrt() / mean_s
            }
        }
    }

    /// The same in nanoseconds, as the simulator has it.
    pub(crate) fn nanoseconds(&self) -> redolab_sim::Distribution {
        use redolab_sim::Distribution as Ns;
        match *self {
            Self::Constant { mean_s } => Ns::Constant { mean_ns: mean_s * 1e9 },
            Self::Exponential { mean_s } => Ns::Exponential { mean_ns: mean_s * 1e9 },
            Self::Gamma { mean_s, cv } => Ns::Gamma { mean_ns: mean_s * 1e9, cv },
            Self::Lognormal { mean_s, cv } => Ns::Lognormal { mean_ns: mean_s * 1e9, cv },
            Self::TwoValued { usual_s, rare_s, rare_share } => {
                Ns::TwoValued { usual_ns: usual_s * 1e9, rare_ns: rare_s * 1e9, rare_share }
            }
            Self::Quantiles { ref values_s } => {
                Ns::Quantiles { values_ns: values_s.iter().map(|value| value * 1e9).collect() }
            }
        }
    }
}

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
        let usual = Distribution::TwoValued { usual_s: 1.0, rare_s: 11.0, rare_share: 0.1 };
        assert!(near(usual.mean_s(), 2.0) && near(usual.cv(), 1.5));
        // Uniform from 1 to 3, in one stretch and in two.
        for values_s in [vec![1.0, 3.0], vec![1.0, 2.0, 3.0]] {
            let uniform = Distribution::Quantiles { values_s };
            assert!(near(uniform.mean_s(), 2.0));
            assert!(near(uniform.cv(), (1.0_f64 / 3.0).sqrt() / 2.0));
        }
        assert!(near(Distribution::Exponential { mean_s: 0.3 }.cv(), 1.0));
        assert!(near(Distribution::Gamma { mean_s: 0.3, cv: 0.4 }.cv(), 0.4));
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
            assert!((made.nanoseconds().mean_ns() - 1e9 * made.mean_s()).abs() < 1e-3);
        }
        let text = "there is no distribution \"gamma\" of 1 values".to_owned();
        assert_eq!(Distribution::of("gamma", &[1.0]), Err(Refused::Invalid(text)));
    }
}
