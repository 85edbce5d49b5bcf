//! Lambert's function.

/// Steps after which the last bit is known; each triples the digits.
const STEPS: u32 = 20;

/// W of a number above 0: the w with w exp(w) = x.
///
/// Source: Corless et al., "On the Lambert W function", Advances in Computational Mathematics 5 (1996), section 5
/// (Halley's method); Iacono and Boyd, "New approximations to the principal real-valued branch of the Lambert
/// W-function", Advances in Computational Mathematics 43 (2017), for the start.
pub fn lambert_w(x: f64) -> f64 {
    if x == f64::INFINITY {
        return x;
    }
    let log = libm::log1p(x);
    let mut w = log * (1.0 - libm::log1p(log) / (2.0 + log));
    for _ in 0..STEPS {
        // The excess and its slope, both by exp(w), which may be more than a number holds.
        let excess = w - x * libm::exp(-w);
        let next = w - excess / (w + 1.0 - (w + 2.0) * excess / (2.0 * w + 2.0));
        if (next - w).abs() <= f64::EPSILON * next {
            return next;
        }
        w = next;
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_inverts_w_times_its_exponential() {
        for w in [1e-300, 1e-12, 1e-3, 0.3, 0.567, 1.0, 2.7, 30.0, 300.0, 690.0_f64] {
            let found = lambert_w(w * libm::exp(w));
            assert!((found / w - 1.0).abs() < 1e-14, "{w}: {found}");
        }
        // The omega constant.
        assert!((lambert_w(1.0) - 0.567_143_290_409_783_8).abs() < 1e-15);
    }
}
