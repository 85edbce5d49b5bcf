//! The wait sampler: looks at every process of a server at random moments, and follows waits for the log in bursts.

mod burst;
mod follow;
mod handle;
mod lengths;
mod look;
mod process;
mod sync_wait;
mod window;

pub use handle::{Config, Sampler};
pub use window::{Ends, Episodes, Looks, Watched, Window};
