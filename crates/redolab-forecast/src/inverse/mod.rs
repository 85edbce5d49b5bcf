//! Questions the other way round: which value of a factor brings what is wanted.
//!
//! The model is simulated again and again while an interval of values is halved. The same is done with every resampled
//! calibration, and the middle 90 % of those answers are the answer's interval. It holds what the calibration leaves
//! open, and not the model's own error.

pub mod arrivals;
pub mod asking;
pub mod bounds;
pub mod elbow;
pub mod interval;
pub mod rows;
mod search;
