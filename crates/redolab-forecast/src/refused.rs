//! Why something has no forecast.

use std::fmt;

use redolab_sim::{Invalid, Stopped};

/// Why something has no forecast; the text is for whoever asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Something that cannot be, named.
    Invalid(String),
    /// Work arrives as fast as it can be done, or faster: the queue grows without end.
    NoSteadyState(String),
    /// The simulation did not come to its end within its number of events.
    TooLong(String),
    /// No value of a factor brings what is wanted.
    NoAnswer(String),
    /// Whoever asked wanted no more.
    Unwanted,
    /// What was simulated took no time, so there is nothing per time.
    NoTime,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(text)
            | Self::NoSteadyState(text)
            | Self::TooLong(text)
            | Self::NoAnswer(text) => formatter.write_str(text),
            Self::Unwanted => Stopped::Unwanted.fmt(formatter),
            Self::NoTime => formatter.write_str("what was simulated took no time"),
        }
    }
}

impl std::error::Error for Refused {}

impl From<Invalid> for Refused {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid.0)
    }
}

impl From<Stopped> for Refused {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Invalid(invalid) => invalid.into(),
            Stopped::TooLong(_) => Self::TooLong(stopped.to_string()),
            Stopped::Unwanted => Self::Unwanted,
        }
    }
}
