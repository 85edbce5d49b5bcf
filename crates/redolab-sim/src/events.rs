//! What happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A server of the CPU station ends a slice.
    Slice { server: u32 },
    /// A session has thought.
    Thought { session: u32 },
    /// The device has done its flush.
    Flushed,
    /// The leader has slept its commit delay.
    Delayed,
    /// A burst of arrivals.
    Arrival,
    /// The log writer's interval is over.
    WriterTick,
    /// A CPU that idles looks for work.
    Balance,
}

/// Events in the order of their time, and of their making where that is the same.
///
/// An event is one number, so that comparing two is quick: its time in the upper 64 bits, then 44
/// bits that count the events made (200 days' worth at a million a second), then 3 for its kind and
/// 17 for whose it is (`MOST` at the most).
#[derive(Debug)]
pub struct Events {
    heap: BinaryHeap<Reverse<u128>>,
    made: u64,
}

/// Sessions and CPUs have numbers below this.
pub const MOST: u32 = 1 << NUMBER_BITS;

const NUMBER_BITS: u32 = 17;
const EVENT_BITS: u32 = 20;

impl Events {
    /// With room for `most` events at a time.
    pub fn new(most: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(most), made: 0 }
    }

    pub fn at(&mut self, time_ns: u64, event: Event) {
        let (kind, number) = match event {
            Event::Slice { server } => (0, server),
            Event::Thought { session } => (1, session),
            Event::Flushed => (2, 0),
            Event::Delayed => (3, 0),
            Event::Arrival => (4, 0),
            Event::WriterTick => (5, 0),
            Event::Balance => (6, 0),
        };
        let code = kind << NUMBER_BITS | u64::from(number);
        let order = self.made << EVENT_BITS | code;
        self.heap.push(Reverse(u128::from(time_ns) << 64 | u128::from(order)));
        self.made += 1;
    }

    #[expect(clippy::cast_possible_truncation, reason = "the bits that are meant")]
    pub fn next(&mut self) -> Option<(u64, Event)> {
        let Reverse(event) = self.heap.pop()?;
        let number = event as u32 & (MOST - 1);
        let kind = (event as u32 >> NUMBER_BITS) & 7;
        let event_of = match kind {
            0 => Event::Slice { server: number },
            1 => Event::Thought { session: number },
            2 => Event::Flushed,
            3 => Event::Delayed,
            4 => Event::Arrival,
            5 => Event::WriterTick,
            _ => Event::Balance,
        };
        Some(((event >> 64) as u64, event_of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_comes_back_in_the_order_of_time_and_then_of_making() {
        let mut events = Events::new(6);
        let last = MOST - 1;
        events.at(7, Event::Thought { session: last });
        events.at(u64::MAX, Event::WriterTick);
        events.at(7, Event::Slice { server: 3 });
        events.at(0, Event::Flushed);
        events.at(7, Event::Arrival);
        events.at(7, Event::Delayed);
        let seen: Vec<_> = std::iter::from_fn(|| events.next()).collect();
        assert_eq!(
            seen,
            [
                (0, Event::Flushed),
                (7, Event::Thought { session: last }),
                (7, Event::Slice { server: 3 }),
                (7, Event::Arrival),
                (7, Event::Delayed),
                (u64::MAX, Event::WriterTick),
            ]
        );
    }
}
