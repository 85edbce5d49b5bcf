//! The error of a client that does not go on with what a server sends or shows.

use std::error::Error;
use std::fmt;

/// Why the client does not go on.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) String);

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Error for Refusal {}
