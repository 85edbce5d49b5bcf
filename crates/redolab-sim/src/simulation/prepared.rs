//! What follows from the parameters, computed once.

use crate::parameters::{Load, Parameters};
use crate::rounding::whole;

/// A long transaction of a client is cut into no more parts than this.
const MOST_STATEMENTS: u32 = 240;

/// What follows from the parameters.
pub struct Prepared {
    pub burst: Option<u32>,
    pub parts: u32,
    /// Statements of a client that a part but the last stands for.
    pub statements_of_part: f64,
    pub part_bytes: u64,
    pub last_part_bytes: u64,
}

impl Prepared {
    pub fn new(parameters: &Parameters) -> Self {
        let burst = match parameters.load {
            Load::Closed { .. } => None,
            Load::Open { burst, .. } => Some(burst),
        };
        let bytes = whole(parameters.transaction_bytes());
        let parts = parameters.statements.clamp(1, MOST_STATEMENTS);
        let part_bytes = bytes / u64::from(parts);
        let before_the_last = f64::from(parameters.statements.saturating_sub(1).max(1));
        Self {
            burst,
            parts,
            statements_of_part: before_the_last / f64::from(parts.max(2) - 1),
            part_bytes,
            last_part_bytes: bytes - part_bytes * u64::from(parts - 1),
        }
    }
}
