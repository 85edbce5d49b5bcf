//! SQL statements of a script, and the variables in them.

use std::ops::Range;

use crate::tokens::variable_length;

/// How statements go to the server; the placeholders of arguments are those of its language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// As text with the values of variables in it.
    Simple,
    /// With arguments, parsed each time.
    Extended,
    /// With arguments, prepared once.
    Prepared,
}

/// A statement, or several that go to the server as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sql {
    text: String,
    variables: Vec<(Range<usize>, String)>,
}

impl Sql {
    pub(crate) fn new(text: String) -> Self {
        let variables = variables(&text);
        Self { text, variables }
    }

    /// As it was written.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.text
    }

    /// The names of its arguments, in the order of their placeholders.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(_, name)| name.as_str())
    }

    /// With the placeholder of each argument, by its number from 1.
    #[must_use]
    pub fn with_placeholders(&self, placeholder: impl Fn(usize) -> String) -> String {
        let mut number = 0;
        self.filled(|_| {
            number += 1;
            Some(placeholder(number))
        })
    }

    /// With the values of variables; a variable without one stays as it was written.
    pub(crate) fn with_values(&self, value: impl Fn(&str) -> Option<String>) -> String {
        self.filled(value)
    }

    fn filled(&self, mut value: impl FnMut(&str) -> Option<String>) -> String {
        let mut filled = String::with_capacity(self.text.len());
        let mut at = 0;
        for (range, name) in &self.variables {
            filled.push_str(&self.text[at..range.start]);
            match value(name) {
                Some(value) => filled.push_str(&value),
                None => filled.push_str(&self.text[range.clone()]),
            }
            at = range.end;
        }
        filled.push_str(&self.text[at..]);
        filled
    }
}

/// The variables of a text, also those within quotes: pgbench does not look at quotes either.
fn variables(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(colon) = text[at..].find(':') {
        let start = at + colon;
        let name = &text[start + 1..];
        let length = variable_length(name);
        if name.starts_with(':') {
            // A cast.
            at = start + 1 + (name.len() - name.trim_start_matches(':').len());
        } else if length == 0 || name.starts_with(|first: char| first.is_ascii_digit()) {
            at = start + 1;
        } else {
            let end = start + 1 + length;
            found.push((start..end, name[..length].to_owned()));
            at = end;
        }
    }
    found
}

/// What ended a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Semicolon,
    /// A meta command, which begins at this byte.
    Meta(usize),
    File,
}

/// A statement that was read.
#[derive(Debug)]
pub(crate) struct Scanned {
    /// Without what comes before its first word; with its semicolon, where it has one.
    pub(crate) text: String,
    /// The byte of its first word.
    pub(crate) start: usize,
    /// The byte after it.
    pub(crate) after: usize,
    pub(crate) end: End,
}

/// Read a statement from a byte of a file on.
///
/// # Errors
///
/// A quote or a comment that does not end: where it begins, and its kind.
pub(crate) fn scan(file: &str, from: usize) -> Result<Scanned, (usize, &'static str)> {
    let start = beginning(file, from);
    let mut scanner =
        Scanner { file, at: start, text: String::new(), brackets: 0, words: Words::default() };
    let end = scanner.read()?;
    Ok(Scanned { text: scanner.text, start, after: scanner.at, end })
}

/// White space and `--` comments before a statement are not part of it.
fn beginning(file: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &file[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if !trimmed.starts_with("--") {
            return at;
        }
        at += trimmed.find('\n').unwrap_or(trimmed.len());
    }
}

struct Scanner<'a> {
    file: &'a str,
    at: usize,
    text: String,
    brackets: usize,
    words: Words,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.file[self.at..]
    }

    fn take(&mut self, length: usize) {
        self.text.push_str(&self.file[self.at..self.at + length]);
        self.at += length;
    }

    fn read(&mut self) -> Result<End, (usize, &'static str)> {
        while let Some(first) = self.rest().chars().next() {
            match first {
                ';' if self.brackets == 0 && self.words.inside == 0 => {
                    self.take(1);
                    return Ok(End::Semicolon);
                }
                '\\' if self.rest().starts_with("\\;") || self.rest().starts_with("\\:") => {
                    self.at += 1;
                    self.take(1);
                }
                '\\' => return Ok(End::Meta(self.at)),
                '\'' => self.quoted('\'', false)?,
                '"' => self.quoted('"', false)?,
                '$' => self.dollar()?,
                '-' if self.rest().starts_with("--") => {
                    self.take(self.rest().find('\n').unwrap_or(self.rest().len()));
                }
                '/' if self.rest().starts_with("/*") => self.comment()?,
                _ if first.is_alphabetic() || first == '_' => self.word()?,
                _ => {
                    match first {
                        '(' => self.brackets += 1,
                        ')' => self.brackets = self.brackets.saturating_sub(1),
                        _ => {}
                    }
                    self.take(first.len_utf8());
                }
            }
        }
        Ok(End::File)
    }

    fn word(&mut self) -> Result<(), (usize, &'static str)> {
        let rest = self.rest();
        let length = rest
            .find(|next: char| !next.is_alphanumeric() && next != '_' && next != '$')
            .unwrap_or(rest.len());
        let word = rest[..length].to_lowercase();
        let escapes = word == "e" && rest[length..].starts_with('\'');
        self.take(length);
        if escapes {
            return self.quoted('\'', true);
        }
        if self.brackets == 0 {
            self.words.take(&word);
        }
        Ok(())
    }

    fn quoted(&mut self, quote: char, escapes: bool) -> Result<(), (usize, &'static str)> {
        let start = self.at;
        self.take(1);
        loop {
            let Some(next) = self.rest().chars().next() else {
                return Err((start, if quote == '"' { "quoted name" } else { "quoted text" }));
            };
            if escapes && next == '\\' {
                let length = self.rest()[1..].chars().next().map_or(0, char::len_utf8);
                self.take(1 + length);
                continue;
            }
            self.take(next.len_utf8());
            // A doubled quote is one within, and ends and begins again, which comes to the same.
            if next == quote {
                return Ok(());
            }
        }
    }

    fn dollar(&mut self) -> Result<(), (usize, &'static str)> {
        let (start, rest) = (self.at, self.rest());
        let tag = rest[1..].find('$').map(|length| &rest[..length + 2]).filter(|tag| {
            let name = &tag[1..tag.len() - 1];
            name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
                && !name.starts_with(|first: char| first.is_ascii_digit())
        });
        let Some(tag) = tag else {
            self.take(1);
            return Ok(());
        };
        match rest[tag.len()..].find(tag) {
            Some(inside) => {
                self.take(inside + 2 * tag.len());
                Ok(())
            }
            None => Err((start, "text between dollars")),
        }
    }

    fn comment(&mut self) -> Result<(), (usize, &'static str)> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            let rest = self.rest();
            if rest.starts_with("/*") {
                depth += 1;
                self.take(2);
            } else if rest.starts_with("*/") {
                depth -= 1;
                self.take(2);
                if depth == 0 {
                    return Ok(());
                }
            } else {
                match rest.chars().next() {
                    Some(next) => self.take(next.len_utf8()),
                    None => return Err((start, "comment")),
                }
            }
        }
    }
}

/// The words of a statement so far, as far as they say whether a semicolon ends it: those of the body of a
/// function (`BEGIN ATOMIC ... END`) do not.
#[derive(Default)]
struct Words {
    first: Vec<String>,
    inside: usize,
}

impl Words {
    fn take(&mut self, word: &str) {
        if self.first.len() < 4 {
            self.first.push(word.to_owned());
        }
        let first: Vec<_> = self.first.iter().map(String::as_str).collect();
        let makes = match first[..] {
            ["create", "or", "replace", kind, ..] | ["create", kind, ..] => {
                matches!(kind, "function" | "procedure")
            }
            _ => false,
        };
        match word {
            "begin" if makes => self.inside += 1,
            "case" if self.inside > 0 => self.inside += 1,
            "end" => self.inside = self.inside.saturating_sub(1),
            _ => {}
        }
    }
}
