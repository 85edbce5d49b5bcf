//! Searches among whole numbers.

use crate::refused::Refused;

/// The first step from an answer to a replicate's, as a part of it.
const NEAR: i64 = 8;
/// A step that brings less than this brings nothing.
const WORTH: f64 = 1.01;

/// The least number from `low` to `high` from which on it holds; `high` is taken to.
pub fn first(
    mut low: i64,
    mut high: i64,
    mut holds: impl FnMut(i64) -> Result<bool, Refused>,
) -> Result<i64, Refused> {
    while low < high {
        let middle = (low + high) / 2;
        if holds(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

/// The least number from 1 to `high` from which on it holds; `high` is taken to. Looked for from `near` on in steps
/// that double.
pub fn first_near(
    mut near: i64,
    high: i64,
    mut holds: impl FnMut(i64) -> Result<bool, Refused>,
) -> Result<i64, Refused> {
    let mut step = (near / NEAR).max(1);
    if holds(near)? {
        while near > 1 {
            let below = (near - step).max(1);
            if !holds(below)? {
                return first(below + 1, near, holds);
            }
            (near, step) = (below, 2 * step);
        }
        return Ok(near);
    }
    while near + step < high && !holds(near + step)? {
        (near, step) = (near + step, 2 * step);
    }
    first(near + 1, (near + step).min(high), holds)
}

/// Where a value that rises and then stays or falls is greatest, from 1 to `most`; None where it still rises there, by
/// more than to `enough` of it from half as many.
///
/// Doubles until two steps in a row bring no 1 %, then narrows by thirds around the best.
pub fn peak(
    most: i64,
    enough: f64,
    mut value: impl FnMut(i64) -> Result<f64, Refused>,
) -> Result<Option<i64>, Refused> {
    let mut tried = vec![(1, value(1)?)];
    let (mut best, mut last, mut idle) = (tried[0], 1, 0);
    let mut before = best.1;
    while idle < 2 && last < most {
        last *= 2;
        before = tried[tried.len() - 1].1;
        let found = value(last)?;
        tried.push((last, found));
        if found > WORTH * best.1 {
            (best, idle) = ((last, found), 0);
        } else {
            idle += 1;
        }
    }
    if best.0 == most && before < enough * best.1 {
        return Ok(None);
    }
    let (mut low, mut high) = ((best.0 / 2).max(1), most.min(2 * best.0));
    while high - low > (best.0 / 8).max(2) {
        let third = (high - low) / 3;
        let (one, two) = (low + third, high - third);
        let (at_one, at_two) = (value(one)?, value(two)?);
        tried.extend([(one, at_one), (two, at_two)]);
        if at_one < at_two {
            low = one;
        } else {
            high = two;
        }
    }
    // Of equal ones that which was tried first.
    let greatest = tried.into_iter().reduce(|one, other| if other.1 > one.1 { other } else { one });
    Ok(greatest.map(|(number, _)| number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_from_nearby_finds_what_one_through_everything_finds() {
        for high in [1, 2, 7, 100] {
            for least in 1..=high {
                assert_eq!(first(1, high, |number| Ok(number >= least)), Ok(least));
                for near in 1..=high {
                    let mut asked = Vec::new();
                    let found = first_near(near, high, |number| {
                        asked.push(number);
                        Ok(number >= least)
                    });
                    assert_eq!(found, Ok(least));
                    assert!(asked.iter().all(|number| (1..=high).contains(number)));
                    // Not one after the other, however far away.
                    assert!(asked.len() <= 16);
                }
            }
        }
    }

    #[test]
    fn a_peak_is_found_and_one_beyond_is_not() {
        let float = |number: i64| f64::from(i32::try_from(number).unwrap());
        let hill = |number: i64| Ok(1e4 - float(number - 37) * float(number - 37));
        let found = peak(2048, 0.95, hill).unwrap().unwrap();
        assert!((33..=41).contains(&found), "{found}");
        assert_eq!(peak(2048, 0.95, |number| Ok(float(number))), Ok(None));
        assert_eq!(peak(2048, 0.95, |_| Ok(1.0)), Ok(Some(1)));
        let stopped = peak(2048, 0.95, |_| Err(Refused::Unwanted));
        assert_eq!(stopped, Err(Refused::Unwanted));
    }
}
