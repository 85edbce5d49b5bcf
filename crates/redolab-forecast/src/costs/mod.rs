//! What forecasts start from: the costs of a commit, as measured, and the setting that is asked about.

pub mod assumptions;
pub mod calibration;
pub mod curve;
pub mod needs;
pub mod scenario;
pub mod seen;
