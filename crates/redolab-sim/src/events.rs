//! What happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A server of the CPU station ends a slice.
    Slice { server: u32 },
    /// The device has done its flush.
    Flushed,
    /// The leader has slept its commit delay.
    Delayed,
    /// A session has thought.
    Thought { session: u32 },
    /// A burst of arrivals.
    Arrival,
    /// The log writer's interval is over.
    WriterTick,
}

/// Events in the order of their time, and of their making where that is the same.
#[derive(Debug)]
pub struct Events {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    made: u64,
}

impl Events {
    /// With room for `most` events at a time.
    pub fn new(most: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(most), made: 0 }
    }

    pub fn at(&mut self, time_ns: u64, event: Event) {
        self.heap.push(Reverse((time_ns, self.made, event)));
        self.made += 1;
    }

    pub fn next(&mut self) -> Option<(u64, Event)> {
        self.heap.pop().map(|Reverse((time_ns, _, event))| (time_ns, event))
    }
}
