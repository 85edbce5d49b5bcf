//! One CPU: who is on it, and who waits for it.

use std::collections::VecDeque;

use super::request::{Ready, Work};

/// One CPU, who is on it, and who waits for it.
#[derive(Debug, Clone, Default)]
pub struct Server {
    pub process: u32,
    /// What it still asks for.
    pub work: Work,
    /// Of its quantum.
    pub used_ns: u64,
    /// CPU time until the event that has been announced, from when on it is spent, and when it ends.
    pub slice_ns: u64,
    pub work_from_ns: u64,
    pub ends_ns: u64,
    /// It gives way to those who wait as soon as it can.
    pub gives_way: bool,
    pub busy: bool,
    pub idle_since_ns: u64,
    pub ready: VecDeque<Ready>,
}

impl Server {
    /// How long it has idled.
    pub fn idled_ns(&self, now_ns: u64) -> u64 {
        now_ns - self.idle_since_ns
    }
}
