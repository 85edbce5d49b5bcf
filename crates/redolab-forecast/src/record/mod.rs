//! How far a forecast can be trusted: its family, what lies beyond what was measured, and its interval.

pub mod extrapolated;
pub mod family;
pub mod prediction;
