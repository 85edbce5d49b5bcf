//! The events to come, in the order in which they happen.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::wheel::{NONE, Wheel};

/// What happens at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A server of the CPU station ends a slice.
    Slice { server: u32 },
    /// A session has thought.
    Thought { session: u32 },
    /// A device has done its flush.
    DeviceDone { device: u32 },
    /// The leader of a log has slept its commit delay.
    Delayed { log: u32 },
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
/// the first log's owner the end of its flush or delay. They have a place of their own. There are few places, so
/// that the first of them is found by comparisons that need no loop; CPUs beyond have none. The others have
/// a slot of a wheel, and only what has no room there passes through a heap.
#[derive(Debug)]
pub struct Events {
    /// The first log's owner's, then of each of the first CPUs; `NONE` where nothing is ahead.
    places: [u128; PLACES],
    wheel: Wheel,
    heap: BinaryHeap<Reverse<u128>>,
    made: u64,
    now_ns: u64,
}

/// Sessions and CPUs have numbers below this.
pub const MOST: u32 = 1 << NUMBER_BITS;

const NUMBER_BITS: u32 = 17;
const EVENT_BITS: u32 = 20;
const PLACES: usize = 4;

impl Events {
    /// With room for `most` at a time; those without a place come `mean_ns` from now on average.
    pub fn new(most: usize, mean_ns: u64) -> Self {
        Self {
            places: [NONE; PLACES],
            wheel: Wheel::new(mean_ns),
            heap: BinaryHeap::with_capacity(most),
            made: 0,
            now_ns: 0,
        }
    }

    // Inline, because who calls it knows the kind.
    #[inline]
    pub fn at(&mut self, time_ns: u64, event: Event) {
        let (kind, number) = match event {
            Event::Slice { server } => (0, server),
            Event::Thought { session } => (1, session),
            Event::DeviceDone { device } => (2, device),
            Event::Delayed { log } => (3, log),
            Event::Arrival => (4, 0),
            Event::WriterTick => (5, 0),
            Event::Balance => (6, 0),
        };
        let code = kind << NUMBER_BITS | u64::from(number);
        let order = self.made << EVENT_BITS | code;
        let key = u128::from(time_ns) << 64 | u128::from(order);
        self.made += 1;
        if let Some(own) = self.places.get_mut(place_of(event)) {
            // A slice that was announced is over before its end where its process was preempted.
            debug_assert!(*own == NONE || kind == 0, "one at a time");
            *own = key;
        } else {
            self.put(key, time_ns);
        }
    }

    fn put(&mut self, key: u128, time_ns: u64) {
        if !self.wheel.put(key, time_ns, self.now_ns) {
            self.heap.push(Reverse(key));
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the bits that are meant")]
    pub fn next(&mut self) -> Option<(u64, Event)> {
        let [log, one, two, three] = self.places;
        let late = self.heap.peek().map_or(NONE, |top| top.0);
        let other = earlier(self.wheel.first(), late);
        let first = earlier(earlier(earlier(one, two), earlier(log, three)), other);
        if first == NONE {
            return None;
        }
        let number = first as u32 & (MOST - 1);
        let kind = (first as u32 >> NUMBER_BITS) & 7;
        let event = match kind {
            0 => Event::Slice { server: number },
            1 => Event::Thought { session: number },
            2 => Event::DeviceDone { device: number },
            3 => Event::Delayed { log: number },
            4 => Event::Arrival,
            5 => Event::WriterTick,
            _ => Event::Balance,
        };
        if let Some(own) = self.places.get_mut(place_of(event)) {
            *own = NONE;
        } else {
            self.remove(first);
        }
        self.now_ns = (first >> 64) as u64;
        Some((self.now_ns, event))
    }

    fn remove(&mut self, first: u128) {
        if self.wheel.first() == first {
            self.wheel.take();
        } else {
            self.heap.pop();
        }
    }
}

/// Which place an event has; one that there is not for those that have none.
fn place_of(event: Event) -> usize {
    match event {
        Event::DeviceDone { device: 0 } | Event::Delayed { log: 0 } => 0,
        Event::Slice { server } => 1 + server as usize,
        _ => PLACES,
    }
}

fn earlier(one: u128, other: u128) -> u128 {
    if other < one { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_comes_back_in_the_order_of_time_and_then_of_making() {
        let mut events = Events::new(8, 1_000);
        let last = MOST - 1;
        events.at(7, Event::Thought { session: last });
        events.at(u64::MAX, Event::WriterTick);
        events.at(7, Event::Slice { server: 8 });
        events.at(7, Event::Slice { server: 3 });
        events.at(0, Event::DeviceDone { device: 0 });
        events.at(1, Event::DeviceDone { device: 1 });
        events.at(7, Event::Delayed { log: 1 });
        events.at(7, Event::Arrival);
        assert_eq!(events.next(), Some((0, Event::DeviceDone { device: 0 })));
        events.at(7, Event::Delayed { log: 0 });
        events.at(7, Event::Balance);
        let seen: Vec<_> = std::iter::from_fn(|| events.next()).collect();
        assert_eq!(
            seen,
            [
                (1, Event::DeviceDone { device: 1 }),
                (7, Event::Thought { session: last }),
                (7, Event::Slice { server: 8 }),
                (7, Event::Slice { server: 3 }),
                (7, Event::Delayed { log: 1 }),
                (7, Event::Arrival),
                (7, Event::Delayed { log: 0 }),
                (7, Event::Balance),
                (u64::MAX, Event::WriterTick),
            ]
        );
    }
}
