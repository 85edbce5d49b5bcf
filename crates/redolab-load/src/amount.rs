//! How much work all sessions do together.

use std::time::Duration;

/// How much work all sessions do together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Every session works for so long.
    For(Duration),
    /// So many rows of all sessions together, or rounds of the user's own text.
    Rows(u64),
}
