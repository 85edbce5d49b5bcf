//! Quantiles of Student's t.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// Halvings of a right angle after which it is known to the last bit.
const HALVINGS: u32 = 64;

/// What |t| stays below with probability `level`, with `freedom` degrees of freedom, at least one.
///
/// Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4, for the
/// probability as a finite sum; it is inverted by bisection of the angle.
pub fn two_sided(level: f64, freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if within(middle, freedom) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::from(freedom).sqrt() * libm::tan(f64::midpoint(low, high))
}

/// Probability of a |t| below tan(`angle`) times the root of the degrees of freedom.
fn within(angle: f64, freedom: u32) -> f64 {
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    // Of an odd number the sum has a term for 3, 5, 7 ...; of an even one for 2, 4, 6 ...
    let first = if odd { 3 } else { 2 };
    let mut sum = 0.0;
    for count in (first..=freedom).step_by(2) {
        sum += term;
        let count = f64::from(count);
        term *= cosine * cosine * (count - 1.0) / count;
    }
    if odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // SciPy 1.16, `scipy.stats.t.ppf`; with one and two degrees of freedom also closed forms.
        for (level, freedom, t) in [
            (0.9, 1, 6.313_751_514_675_037),
            (0.9, 2, 2.919_985_580_353_724),
            (0.95, 3, 3.182_446_305_283_708),
            (0.9, 4, 2.131_846_786_326_649_5),
            (0.95, 19, 2.093_024_054_408_308_7),
            (0.99, 10, 3.169_272_672_616_95),
            (0.5, 30, 0.682_755_693_321_292_7),
        ] {
            let found = two_sided(level, freedom);
            assert!((found / t - 1.0).abs() < 1e-13, "{level} {freedom}: {found}");
        }
        let exact = (2.0 * 0.81 / (1.0 - 0.81_f64)).sqrt();
        assert!((two_sided(0.9, 2) / exact - 1.0).abs() < 1e-14);
    }
}
