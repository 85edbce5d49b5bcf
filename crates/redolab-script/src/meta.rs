//! Meta commands, as far as they are words of a line.

use std::time::Duration;

use crate::fault::Wrong;
use crate::tokens::variable_length;

/// How many units of time.
#[derive(Clone, Debug)]
pub(crate) enum Pause {
    Number(i64),
    Variable(String),
}

/// A meta command: its words by the bytes at which they begin and end.
pub(crate) struct Meta<'a> {
    file: &'a str,
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    pub(crate) words: Vec<(usize, usize)>,
    pub(crate) end: usize,
}

impl<'a> Meta<'a> {
    /// The meta command that begins at a byte, to the end of its line.
    pub(crate) fn read(file: &'a str, at: usize) -> Self {
        let bytes = file.as_bytes();
        let mut end = at;
        let mut words = Vec::new();
        let mut word: Option<usize> = None;
        while end < bytes.len() && bytes[end] != b'\n' {
            let goes_on =
                [&b"\\\n"[..], b"\\\r\n"].into_iter().find(|it| bytes[end..].starts_with(it));
            if bytes[end].is_ascii_whitespace() || goes_on.is_some() {
                words.extend(word.take().map(|start| (start, end)));
            } else if word.is_none() {
                word = Some(end);
            }
            end += goes_on.map_or(1, <[u8]>::len);
        }
        words.extend(word.map(|start| (start, end)));
        let name = words.first().map_or("", |&(start, to)| &file[start + 1..to]);
        words.drain(..words.len().min(1));
        Self { file, at, name, words, end }
    }

    /// `\setrandom`, which pgbench had until 9.5, as it is written since.
    pub(crate) fn modern(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|&(from, to)| &self.file[from..to]).collect();
        let written = match words[..] {
            [name, low, high] | [name, low, high, "uniform"] => {
                format!("\\set {name} random({low}, {high})")
            }
            [name, low, high, how @ ("gaussian" | "exponential"), parameter] => {
                format!("\\set {name} random_{how}({low}, {high}, {parameter})")
            }
            _ => "\\set NAME random(LOWEST, GREATEST)".to_owned(),
        };
        format!("\\setrandom is gone since pgbench 9.6: write {written}")
    }

    /// Make sure of how many words follow its name.
    pub(crate) fn takes(&self, fewest: usize, most: usize) -> Result<(), Wrong> {
        let given = self.words.len();
        if given < fewest {
            return Err(Wrong::at(self.at, format!("\\{} lacks an argument", self.name)));
        }
        match self.words.get(most) {
            Some(&(from, _)) => {
                Err(Wrong::at(from, format!("\\{} takes no such argument", self.name)))
            }
            None => Ok(()),
        }
    }

    /// What `\sleep` waits for: how many units, and a unit.
    pub(crate) fn pause(&self) -> Result<(Pause, Duration), Wrong> {
        self.takes(1, 2)?;
        let (from, to) = self.words[0];
        let text = &self.file[from..to];
        let mut unit = self.words.get(1).map(|&(from, to)| (from, &self.file[from..to]));
        let pause = if let Some(name) = text.strip_prefix(':') {
            if variable_length(name) != name.len() || name.is_empty() {
                return Err(Wrong::at(from, format!("\"{text}\" is not a variable")));
            }
            Pause::Variable(name.to_owned())
        } else {
            let digits = text.trim_start_matches(['+', '-']);
            let figures = digits.find(|next: char| !next.is_ascii_digit()).unwrap_or(digits.len());
            let length = text.len() - digits.len() + figures;
            if unit.is_none() && length < text.len() {
                unit = Some((from + length, &text[length..]));
            }
            let number = if unit.is_some_and(|(at, _)| at < to) { &text[..length] } else { text };
            let number = number.parse().map_err(|_| {
                Wrong::at(
                    from,
                    format!("\\sleep takes a whole number of us, ms or s, and not \"{text}\""),
                )
            })?;
            Pause::Number(number)
        };
        let each = match unit.map(|(at, unit)| (at, unit.to_lowercase())) {
            None => Duration::from_secs(1),
            Some((_, unit)) if unit == "s" => Duration::from_secs(1),
            Some((_, unit)) if unit == "ms" => Duration::from_millis(1),
            Some((_, unit)) if unit == "us" => Duration::from_micros(1),
            Some((at, unit)) => {
                return Err(Wrong::at(
                    at,
                    format!("the unit of \\sleep is us, ms or s, and not \"{unit}\""),
                ));
            }
        };
        Ok((pause, each))
    }
}
