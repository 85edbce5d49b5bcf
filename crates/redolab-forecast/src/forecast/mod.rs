//! Forecasts of one setting.

pub mod commits;
pub mod intervals;
pub mod quantities;
