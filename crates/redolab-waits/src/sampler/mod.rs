//! The wait sampler: looks at every process of a server at random moments, and follows waits for the log in bursts.

mod burst;
mod config;
mod follow;
mod handle;
mod lengths;
mod look;
mod observer;
mod process;
mod sync_wait;
mod window;
mod work;

pub use config::Config;
pub use handle::Sampler;
pub use window::{Ends, Episodes, Looks, Watched, Window};
