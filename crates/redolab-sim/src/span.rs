//! Durations of parameters.

use crate::distribution::Invalid;

/// A duration: in seconds as it is given, and in whole nanoseconds as it is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Span {
    s: f64,
    ns: u64,
}

impl Span {
    /// In seconds.
    #[must_use]
    pub fn s(self) -> f64 {
        self.s
    }

    /// In whole nanoseconds.
    #[must_use]
    pub fn ns(self) -> u64 {
        self.ns
    }

    /// Check that it is from 0 to an hour; `name` says in the error whose duration it is.
    pub(crate) fn check(self, name: &str) -> Result<(), Invalid> {
        if (0.0..=3600.0).contains(&self.s) {
            Ok(())
        } else {
            Err(Invalid(format!("{name}: {} s is not between 0 and an hour", self.s)))
        }
    }
}

impl From<f64> for Span {
    #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "checked to fit")]
    fn from(s: f64) -> Self {
        Self { s, ns: (s * 1e9).round() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_become_whole_nanoseconds() {
        assert_eq!(Span::from(1.499e-9).ns(), 1);
        assert_eq!(Span::from(3600.0).ns(), 3_600_000_000_000);
        for (seconds, text) in [(-1e-6, "-0.000001"), (f64::NAN, "NaN"), (4000.0, "4000")] {
            let text = format!("wake_s: {text} s is not between 0 and an hour");
            assert_eq!(Span::from(seconds).check("wake_s"), Err(Invalid(text)));
        }
    }
}
