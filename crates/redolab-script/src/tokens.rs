//! The words of an expression.

use crate::fault::Wrong;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Int(i64),
    /// 2^63, which only a minus before it makes an int.
    BeyondInt,
    Double(f64),
    Variable(String),
    /// A function's name or a key word, in small letters.
    Word(String),
    Sign(&'static str),
}

/// Longer ones first: the first that fits is taken.
const SIGNS: [&str; 19] = [
    "<>", "!=", "<=", ">=", "<<", ">>", "+", "-", "*", "/", "%", "=", "<", ">", "|", "&", "#", "~",
    ",",
];
const BRACKETS: [&str; 2] = ["(", ")"];

/// A word and the byte of the file that it begins at.
pub(crate) type Placed = (Token, usize);

/// The words between two bytes of a file. A backslash before the end of a line goes on with the next one.
pub(crate) fn tokens(file: &str, from: usize, to: usize) -> Result<Vec<Placed>, Wrong> {
    let mut found = Vec::new();
    let mut at = from;
    while at < to {
        let rest = &file[at..to];
        if let Some(length) = blank(rest) {
            at += length;
            continue;
        }
        let (token, length) = token(rest).map_err(|text| Wrong::at(at, text))?;
        found.push((token, at));
        at += length;
    }
    Ok(found)
}

fn blank(rest: &str) -> Option<usize> {
    if rest.starts_with("\\\r\n") {
        return Some(3);
    }
    if rest.starts_with("\\\n") {
        return Some(2);
    }
    rest.chars().next().filter(char::is_ascii_whitespace).map(char::len_utf8)
}

fn token(rest: &str) -> Result<(Token, usize), String> {
    if let Some(name) = rest.strip_prefix(':') {
        let length = variable_length(name);
        return if length == 0 {
            Err("a colon begins a variable's name, such as :scale".to_owned())
        } else {
            Ok((Token::Variable(name[..length].to_owned()), length + 1))
        };
    }
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_ascii_digit()
        || (first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit()))
    {
        return number(rest);
    }
    if is_letter(first) {
        let length = length_while(rest, |next| is_letter(next) || next.is_ascii_digit());
        return Ok((Token::Word(rest[..length].to_lowercase()), length));
    }
    SIGNS
        .iter()
        .chain(&BRACKETS)
        .find(|sign| rest.starts_with(**sign))
        .map(|sign| (Token::Sign(sign), sign.len()))
        .ok_or_else(|| format!("an expression cannot hold {first:?}"))
}

/// The bytes of a variable's name at the beginning of a text.
pub(crate) fn variable_length(text: &str) -> usize {
    length_while(text, |next| is_letter(next) || next.is_ascii_digit())
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_' || !letter.is_ascii()
}

fn length_while(text: &str, holds: impl Fn(char) -> bool) -> usize {
    text.find(|next| !holds(next)).unwrap_or(text.len())
}

fn number(rest: &str) -> Result<(Token, usize), String> {
    let digits = |text: &str| length_while(text, |next| next.is_ascii_digit());
    let mut length = digits(rest);
    let mut whole = true;
    if rest[length..].starts_with('.') {
        whole = false;
        length += 1 + digits(&rest[length + 1..]);
    }
    if let Some(power) = rest[length..].strip_prefix(['e', 'E']) {
        let sign = usize::from(power.starts_with(['+', '-']));
        let figures = digits(&power[sign..]);
        if figures > 0 {
            whole = false;
            length += 1 + sign + figures;
        }
    }
    let text = &rest[..length];
    if !whole {
        let number: f64 = text.parse().map_err(|_| format!("{text} is not a number"))?;
        return if number.is_finite() {
            Ok((Token::Double(number), length))
        } else {
            Err(format!("{text} is too great for a double"))
        };
    }
    match text.parse::<u64>() {
        Ok(number) if number == i64::MAX.unsigned_abs() + 1 => Ok((Token::BeyondInt, length)),
        Ok(number) => i64::try_from(number)
            .map(|number| (Token::Int(number), length))
            .map_err(|_| format!("{text} is too great for an int")),
        Err(_) => Err(format!("{text} is too great for an int")),
    }
}
