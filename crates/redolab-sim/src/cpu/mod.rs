//! The CPU station: first come first served, with a quantum, from one queue or from one per CPU.
//!
//! With a queue per CPU it is Linux's fair scheduler as far as it decides who waits where (`placement`, and `load`
//! for those whom a session wakes), so that a CPU can idle beside another's queue, and who comes next (`fair`),
//! which is not who waits longest.

mod fair;
mod load;
mod own_queues;
mod placement;
mod request;
mod server;
mod station;

pub use request::{By, Work};
pub use station::{Cpu, Next, Started};
