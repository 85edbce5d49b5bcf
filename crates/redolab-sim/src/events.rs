//! What happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

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
///
/// Most events are of kinds of which one at a time can be ahead: of each CPU the end of its slice, of
/// the log's owner the end of its flush or delay. They have a place of their own, and only the
/// others pass through a heap. Looking through all places is quicker than a heap while there are
/// few, so only the first CPUs have one.
#[derive(Debug)]
pub struct Events {
    /// The log owner's, then of each of the first CPUs; `NONE` where nothing is ahead.
    places: Vec<u128>,
    heap: BinaryHeap<Reverse<u128>>,
    made: u64,
}

/// Sessions and CPUs have numbers below this.
pub const MOST: u32 = 1 << NUMBER_BITS;

const NUMBER_BITS: u32 = 17;
const EVENT_BITS: u32 = 20;
const NONE: u128 = u128::MAX;
const MOST_PLACES: usize = 8;

impl Events {
    /// Of so many CPUs, with room for `most` others at a time.
    pub fn new(servers: usize, most: usize) -> Self {
        let places = vec![NONE; (1 + servers).min(MOST_PLACES)];
        Self { places, heap: BinaryHeap::with_capacity(most), made: 0 }
    }

    pub fn at(&mut self, time_ns: u64, event: Event) {
        let (kind, number, place) = match event {
            Event::Slice { server } => (0, server, 1 + server as usize),
            Event::Thought { session } => (1, session, MOST_PLACES),
            Event::Flushed => (2, 0, 0),
            Event::Delayed => (3, 0, 0),
            Event::Arrival => (4, 0, MOST_PLACES),
            Event::WriterTick => (5, 0, MOST_PLACES),
            Event::Balance => (6, 0, MOST_PLACES),
        };
        let code = kind << NUMBER_BITS | u64::from(number);
        let order = self.made << EVENT_BITS | code;
        let key = u128::from(time_ns) << 64 | u128::from(order);
        self.made += 1;
        if let Some(own) = self.places.get_mut(place) {
            debug_assert_eq!(*own, NONE, "one at a time");
            *own = key;
        } else {
            self.heap.push(Reverse(key));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the bits that are meant")]
    pub fn next(&mut self) -> Option<(u64, Event)> {
        let (mut place, mut first) = (0, NONE);
        for (number, &key) in self.places.iter().enumerate() {
            if key < first {
                (place, first) = (number, key);
            }
        }
        match self.heap.peek_mut() {
            Some(top) if top.0 < first => first = PeekMut::pop(top).0,
            _ if first == NONE => return None,
            _ => self.places[place] = NONE,
        }
        let number = first as u32 & (MOST - 1);
        let kind = (first as u32 >> NUMBER_BITS) & 7;
        let event = match kind {
            0 => Event::Slice { server: number },
            1 => Event::Thought { session: number },
            2 => Event::Flushed,
            3 => Event::Delayed,
            4 => Event::Arrival,
            5 => Event::WriterTick,
            _ => Event::Balance,
        };
        Some(((first >> 64) as u64, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_comes_back_in_the_order_of_time_and_then_of_making() {
        let mut events = Events::new(9, 6);
        let last = MOST - 1;
        events.at(7, Event::Thought { session: last });
        events.at(u64::MAX, Event::WriterTick);
        events.at(7, Event::Slice { server: 8 });
        events.at(7, Event::Slice { server: 3 });
        events.at(0, Event::Flushed);
        events.at(7, Event::Arrival);
        assert_eq!(events.next(), Some((0, Event::Flushed)));
        events.at(7, Event::Delayed);
        events.at(7, Event::Balance);
        let seen: Vec<_> = std::iter::from_fn(|| events.next()).collect();
        assert_eq!(
            seen,
            [
                (7, Event::Thought { session: last }),
                (7, Event::Slice { server: 8 }),
                (7, Event::Slice { server: 3 }),
                (7, Event::Arrival),
                (7, Event::Delayed),
                (7, Event::Balance),
                (u64::MAX, Event::WriterTick),
            ]
        );
    }
}
