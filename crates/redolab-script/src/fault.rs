//! What is wrong with a script, and where.

use std::fmt;

/// Something that cannot be read or executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong and, where it is known, what to write instead; no final full stop.
    pub text: String,
}

impl Fault {
    pub(crate) fn new(place: (usize, usize), text: impl Into<String>) -> Self {
        Self { line: place.0, column: place.1, text: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}: {}", self.line, self.column, self.text)
    }
}
