//! What is wrong with a script, and where.

use std::fmt;

use crate::place::place;

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

/// What is wrong at a byte of a file. Lines are counted only for what is told.
#[derive(Debug)]
pub(crate) struct Wrong {
    byte: usize,
    text: String,
}

impl Wrong {
    pub(crate) fn at(byte: usize, text: impl Into<String>) -> Self {
        Self { byte, text: text.into() }
    }

    pub(crate) fn told(self, file: &str) -> Fault {
        let (line, column) = place(file, self.byte);
        Fault { line, column, text: self.text }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}: {}", self.line, self.column, self.text)
    }
}
