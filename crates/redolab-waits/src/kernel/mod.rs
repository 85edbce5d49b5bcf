//! What Linux tells of processes, threads and CPUs: `/proc` and the clocks, whatever the server is.

pub mod children;
pub mod clock;
pub mod machine;
pub mod on_cpu;
pub mod parse;
pub mod procfs;
#[cfg(test)]
pub mod sleeper;
pub mod state;
pub mod task;
pub mod threads;
