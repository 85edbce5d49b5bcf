//! Why something has no forecast.

use std::fmt;

use redolab_sim::Invalid;

/// Why something has no forecast; the text is for whoever asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Something that cannot be, named.
    Invalid(String),
    /// Work arrives as fast as it can be done, or faster: the queue grows without end.
    NoSteadyState(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(text) | Self::NoSteadyState(text) => formatter.write_str(text),
        }
    }
}

impl std::error::Error for Refused {}

impl From<Invalid> for Refused {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid.0)
    }
}
