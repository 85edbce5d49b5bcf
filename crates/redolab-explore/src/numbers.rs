//! A row of numbers, read one after the other.

use redolab_forecast::Refused;

/// What is still to be read.
pub struct Numbers<'a>(&'a [f64]);

/// Numbers above this are none that anybody counted.
const MOST: f64 = 9_007_199_254_740_992.0;

impl<'a> Numbers<'a> {
    /// All of these.
    pub fn new(numbers: &'a [f64]) -> Self {
        Self(numbers)
    }

    /// The next.
    pub fn next(&mut self) -> Result<f64, Refused> {
        let (first, rest) = self.0.split_first().ok_or_else(|| wrong("they end too early"))?;
        self.0 = rest;
        Ok(*first)
    }

    /// The next, a whole number.
    #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
    pub fn whole(&mut self) -> Result<i64, Refused> {
        let value = self.next()?;
        if value.fract() == 0.0 && value.abs() <= MOST {
            Ok(value as i64)
        } else {
            Err(wrong(&format!("{value} stands where a whole number must")))
        }
    }

    /// The next, a whole number of 32 bits.
    pub fn small(&mut self) -> Result<u32, Refused> {
        let value = self.whole()?;
        u32::try_from(value).map_err(|_| wrong(&format!("{value} stands where a count must")))
    }

    /// The next, yes or no.
    pub fn flag(&mut self) -> Result<bool, Refused> {
        Ok(self.next()? != 0.0)
    }

    /// The next, or None where it is no number.
    pub fn optional(&mut self) -> Result<Option<f64>, Refused> {
        let value = self.next()?;
        Ok((!value.is_nan()).then_some(value))
    }

    /// How many follow, each of so many numbers; no more than there are.
    pub fn count(&mut self, each: usize) -> Result<usize, Refused> {
        let count = self.whole()?;
        match usize::try_from(count) {
            Ok(count) if count.checked_mul(each).is_some_and(|all| all <= self.0.len()) => {
                Ok(count)
            }
            _ => Err(wrong(&format!("{count} are said to follow"))),
        }
    }

    /// As many as are said to follow.
    pub fn list(&mut self) -> Result<Vec<f64>, Refused> {
        let count = self.count(1)?;
        (0..count).map(|_| self.next()).collect()
    }

    /// Pairs of a count and a number, as many as are said to follow.
    pub fn curve(&mut self) -> Result<Vec<(u32, f64)>, Refused> {
        let count = self.count(2)?;
        (0..count).map(|_| Ok((self.small()?, self.next()?))).collect()
    }

    /// Pairs of numbers, as many as are said to follow.
    pub fn pairs(&mut self) -> Result<Vec<(f64, f64)>, Refused> {
        let count = self.count(2)?;
        (0..count).map(|_| Ok((self.next()?, self.next()?))).collect()
    }

    /// That nothing is left.
    pub fn end(&self) -> Result<(), Refused> {
        if self.0.is_empty() { Ok(()) } else { Err(wrong("more follow than are known")) }
    }
}

fn wrong(what: &str) -> Refused {
    Refused::Invalid(format!("the page's numbers are damaged: {what}"))
}

/// A list with its length before it.
pub fn write_list(to: &mut Vec<f64>, values: &[f64]) {
    to.push(length(values.len()));
    to.extend(values);
}

/// Pairs with their number before them.
pub fn write_pairs(to: &mut Vec<f64>, pairs: impl ExactSizeIterator<Item = (f64, f64)>) {
    to.push(length(pairs.len()));
    for (one, other) in pairs {
        to.extend([one, other]);
    }
}

/// A number of things.
#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 of anything")]
pub fn length(count: usize) -> f64 {
    count as f64
}

/// Yes or no.
pub fn flag(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let refused = |numbers: &[f64], read: fn(&mut Numbers<'_>) -> Result<(), Refused>| {
            read(&mut Numbers::new(numbers)).unwrap_err().to_string()
        };
        assert!(refused(&[], |left| left.next().map(|_| ())).contains("end too early"));
        assert!(refused(&[1.5], |left| left.whole().map(|_| ())).contains("a whole number"));
        assert!(refused(&[f64::INFINITY], |left| left.whole().map(|_| ())).contains("whole"));
        assert!(refused(&[-1.0], |left| left.small().map(|_| ())).contains("a count"));
        assert!(refused(&[1e15, 1.0], |left| left.list().map(|_| ())).contains("follow"));
        assert!(refused(&[2.0, 1.0, 1.0], |left| left.pairs().map(|_| ())).contains("follow"));
        assert!(refused(&[1.0], |left| left.end()).contains("more follow"));
    }
}
