//! Numbers in the texts of refusals.

/// The digits that a number has in a text where nothing else is said.
const DIGITS: usize = 6;

/// A number with six significant digits and no zeros at its end, as `{:g}` of C and Python has it.
pub fn general(value: f64) -> String {
    significant(value, DIGITS)
}

/// The same with so many significant digits, at least one.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".to_owned() } else { format!("{value}") };
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    match usize::try_from(exponent) {
        Ok(whole) if whole >= digits => format!("{}e+{whole:02}", without_zeros(mantissa)),
        Ok(whole) => without_zeros(&format!("{value:.*}", digits - 1 - whole)).to_owned(),
        Err(_) if exponent < -4 => {
            format!("{}e-{:02}", without_zeros(mantissa), exponent.unsigned_abs())
        }
        Err(_) => {
            let places = digits - 1 + exponent.unsigned_abs() as usize;
            without_zeros(&format!("{value:.places$}")).to_owned()
        }
    }
}

/// A whole number with a comma before every three digits.
pub fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let sign = if value < 0 { "-" } else { "" };
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{sign}{text}")
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_c_writes_them() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (100_000.0, "100000"),
            (1_000_000.0, "1e+06"),
            (999_999.5, "1e+06"),
            (1_234_567.0, "1.23457e+06"),
            (0.000_1, "0.0001"),
            (0.000_012_345_678, "1.23457e-05"),
            (1e-300, "1e-300"),
            (7_827.59, "7827.59"),
            (1.0 / 3.0, "0.333333"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(general(value), text);
        }
        assert_eq!(significant(3.428_1, 3), "3.43");
        assert_eq!(significant(12_345.0, 3), "1.23e+04");
        assert_eq!(significant(0.5, 1), "0.5");
        let texts = [7, 2_048, -1_234_567, 100].map(grouped);
        assert_eq!(texts, ["7", "2,048", "-1,234,567", "100"]);
    }
}
