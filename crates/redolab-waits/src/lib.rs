//! Reads wait events and CPU accounts of a database server's processes from outside, on Linux.
//!
//! The accounts come from `/proc`, which any user may read; the wait events from the server's
//! shared memory, which the same user or one with `CAP_SYS_PTRACE` may read. Nothing is asked of
//! the server.
//! All times are cumulative: the difference of two readings is what happened in between. Two
//! readings of one process belong together only if its pid *and* its start time agree, because
//! the kernel gives pids out again.

mod kernel;
mod postgres;
mod sampler;

pub use kernel::machine::{MachineTimes, machine_times};
pub use kernel::state::State;
pub use kernel::task::{Task, task_states};
pub use kernel::threads::process_threads;
pub use postgres::tasks::{ServerTasks, server_tasks};
pub use sampler::{Config, Ends, Episodes, Looks, Sampler, Watched, Window};
