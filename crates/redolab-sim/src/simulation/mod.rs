//! The simulation: sessions, the log and its device, the client and the CPUs, from event to event.

mod after_idle;
mod client;
mod device;
mod draws;
mod log;
mod log_writer;
mod one_log;
mod prepared;
mod process;
mod simulate;
mod state;
mod step;
mod transaction;

pub use simulate::{MOST_EVENTS, Stopped, simulate, simulate_while};
