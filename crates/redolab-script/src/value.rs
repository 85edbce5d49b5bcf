//! Values of variables and expressions, as pgbench has them.

use std::fmt;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A number of double precision.
    Double(f64),
}

const TRUE: [&str; 3] = ["true", "yes", "on"];
const FALSE: [&str; 3] = ["false", "no", "off"];

impl Value {
    /// Read the text of a variable: what a server answered, or what a user wrote.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("null") {
            return Ok(Self::Null);
        }
        if let Some(truth) = truth(text) {
            return Ok(Self::Bool(truth));
        }
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let unreadable = || format!("\"{text}\" is neither a number nor true, false or null");
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(Self::Int).map_err(|_| unreadable());
        }
        match text.parse::<f64>() {
            Ok(number) if text.bytes().any(|byte| byte.is_ascii_digit()) => {
                Ok(Self::Double(number))
            }
            _ => Err(unreadable()),
        }
    }

    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "int",
            Self::Double(_) => "double",
        }
    }

    pub(crate) fn as_bool(self) -> Result<bool, String> {
        match self {
            Self::Bool(truth) => Ok(truth),
            other => Err(format!("a boolean is needed here, and this is {}", other.described())),
        }
    }

    /// A whole number; a double is rounded, a half to the even neighbour.
    pub(crate) fn as_int(self) -> Result<i64, String> {
        match self {
            Self::Int(number) => Ok(number),
            Self::Double(number) => whole(number.round_ties_even())
                .ok_or_else(|| format!("{self} is too great for an int")),
            other => Err(format!("an int is needed here, and this is {}", other.described())),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "an int becomes a double as it does in C")]
    pub(crate) fn as_double(self) -> Result<f64, String> {
        match self {
            Self::Int(number) => Ok(number as f64),
            Self::Double(number) => Ok(number),
            other => Err(format!("a number is needed here, and this is {}", other.described())),
        }
    }

    /// Whether a condition holds: a number does where it is not 0, and NULL does not.
    pub(crate) fn holds(self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(truth) => truth,
            Self::Int(number) => number != 0,
            Self::Double(number) => number != 0.0,
        }
    }

    fn described(self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            other => format!("the {} {other}", other.kind()),
        }
    }
}

/// As pgbench prints it: `%d`, `%.15g`, `true`, `NULL`.
impl fmt::Display for Value {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => to.write_str("NULL"),
            Self::Bool(truth) => write!(to, "{truth}"),
            Self::Int(number) => write!(to, "{number}"),
            Self::Double(number) => to.write_str(&shortest(*number)),
        }
    }
}

/// The int that a double without a fraction is.
#[expect(clippy::cast_possible_truncation, reason = "it was compared with the bounds")]
pub(crate) fn whole(number: f64) -> Option<i64> {
    // 2^63 itself does not fit; -2^63 does.
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    (-BOUND..BOUND).contains(&number).then_some(number as i64)
}

/// The same bits.
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::from_ne_bytes(number.to_ne_bytes())
}

/// The same bits.
pub(crate) fn signed(number: u64) -> i64 {
    i64::from_ne_bytes(number.to_ne_bytes())
}

fn truth(text: &str) -> Option<bool> {
    let begins = |word: &&str| {
        text.len() <= word.len()
            && !text.is_empty()
            && word[..text.len()].eq_ignore_ascii_case(text)
    };
    // `o` begins both `on` and `off`.
    if text.eq_ignore_ascii_case("o") || !text.is_ascii() {
        return None;
    }
    if TRUE.iter().any(begins) {
        return Some(true);
    }
    FALSE.iter().any(begins).then_some(false)
}

/// C's `%.15g`, with PostgreSQL's words for what is no number.
fn shortest(number: f64) -> String {
    if !number.is_finite() {
        let words = if number.is_nan() {
            "NaN"
        } else if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        };
        return words.to_owned();
    }
    let scientific = format!("{number:.14e}");
    let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if (-4..15).contains(&power) {
        let decimals = usize::try_from(14 - power).unwrap_or(0);
        return trimmed(&format!("{number:.decimals$}")).to_owned();
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), power.abs())
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_what_they_look_like() {
        for (text, value) in [
            ("12", Value::Int(12)),
            ("-9223372036854775808", Value::Int(i64::MIN)),
            ("+7", Value::Int(7)),
            ("1.5", Value::Double(1.5)),
            ("1e3", Value::Double(1000.0)),
            ("Null", Value::Null),
            ("t", Value::Bool(true)),
            ("YES", Value::Bool(true)),
            ("of", Value::Bool(false)),
            ("on", Value::Bool(true)),
        ] {
            assert_eq!(Value::read(text), Ok(value), "{text}");
        }
        for text in ["", "o", "truest", "1x", "9223372036854775808", "inf", "nan", "été", "-", "."]
        {
            assert!(Value::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_written_as_c_writes_them() {
        for (number, text) in [
            (1.0, "1"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1.0 / 3.0, "0.333333333333333"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (1.5e-5, "1.5e-05"),
            (0.0001, "0.0001"),
            (std::f64::consts::PI, "3.14159265358979"),
            (f64::NEG_INFINITY, "-Infinity"),
            (999_999_999_999_999.9, "1e+15"),
            (1.25e100, "1.25e+100"),
        ] {
            assert_eq!(Value::Double(number).to_string(), text);
        }
    }

    #[test]
    fn a_double_becomes_an_int_by_rounding_a_half_to_the_even_one() {
        assert_eq!(Value::Double(2.5).as_int(), Ok(2));
        assert_eq!(Value::Double(3.5).as_int(), Ok(4));
        assert!(Value::Double(1e19).as_int().is_err());
        assert!(Value::Double(9_223_372_036_854_775_808.0).as_int().is_err());
        assert_eq!(Value::Double(-9_223_372_036_854_775_808.0).as_int(), Ok(i64::MIN));
    }
}
