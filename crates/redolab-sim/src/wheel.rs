//! A ring of slots for the keys that come soon, so that the first is found at once.

/// A ring of slots of equal time from now on, with at most one key in each.
///
/// Taking the first and putting one in cost the same however many there are, with hardly a branch to guess.
/// There is not room for all: what comes too late, or into a slot that is taken, must be kept elsewhere.
#[derive(Debug)]
pub struct Wheel {
    slots: [u128; SLOTS],
    /// A bit per slot that is taken.
    taken: [u64; SLOTS / 64],
    /// The first that is taken, counted since the beginning of time; any if none is.
    first: u64,
    /// A slot is 2^this nanoseconds long.
    width_bits: u32,
}

/// No key.
pub const NONE: u128 = u128::MAX;

const SLOTS: usize = 512;

impl Wheel {
    /// For keys that come `mean_ns` from now on average.
    pub fn new(mean_ns: u64) -> Self {
        // So four times the mean has a place: of exponential times 49 in 50.
        let width_bits = (mean_ns / (SLOTS as u64 / 4)).next_power_of_two().ilog2();
        Self { slots: [NONE; SLOTS], taken: [0; SLOTS / 64], first: 0, width_bits }
    }

    /// The first key; `NONE` if there is none.
    pub fn first(&self) -> u128 {
        self.slots[place_of(self.first)]
    }

    /// Put in a key of `time_ns`. Returns whether there was room.
    pub fn put(&mut self, key: u128, time_ns: u64, now_ns: u64) -> bool {
        let slot = time_ns >> self.width_bits;
        let place = place_of(slot);
        let room = slot - (now_ns >> self.width_bits) < SLOTS as u64 && self.slots[place] == NONE;
        if room {
            if slot < self.first || self.first() == NONE {
                self.first = slot;
            }
            self.slots[place] = key;
            self.taken[place / 64] |= 1 << (place % 64);
        }
        room
    }

    /// Take the first key out, which there must be.
    pub fn take(&mut self) {
        let place = place_of(self.first);
        self.slots[place] = NONE;
        self.taken[place / 64] &= !(1 << (place % 64));
        let mut word = place / 64;
        // Nothing is left before it in its word but what comes a whole turn later.
        let mut ahead = self.taken[word] & (u64::MAX << (place % 64));
        for _ in 0..self.taken.len() {
            if ahead != 0 {
                break;
            }
            word = (word + 1) % self.taken.len();
            ahead = self.taken[word];
        }
        if ahead != 0 {
            let next = word * 64 + ahead.trailing_zeros() as usize;
            self.first += (next.wrapping_sub(place) % SLOTS) as u64;
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "only the lowest bits count")]
fn place_of(slot: u64) -> usize {
    slot as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_in_the_order_of_time_round_and_round() {
        let mut wheel = Wheel::new(10 * SLOTS as u64);
        let mut now_ns = 0;
        let mut ahead: Vec<u64> = Vec::new();
        let (mut taken, mut refused) = (0, 0);
        for step in 0..20_000_u64 {
            // Times far and near, in no order.
            let time_ns = now_ns + (step * 7_919) % 30_000;
            if wheel.put(u128::from(time_ns), time_ns, now_ns) {
                ahead.push(time_ns);
            } else {
                refused += 1;
            }
            if step % 100 > 40 {
                ahead.sort_unstable_by(|one, other| other.cmp(one));
                let first = ahead.pop().map_or(NONE, u128::from);
                assert_eq!(wheel.first(), first);
                if first != NONE {
                    wheel.take();
                    now_ns = u64::try_from(first).expect("a time");
                    taken += 1;
                }
            }
        }
        assert!(taken > 5_000 && refused > 100, "{taken} taken, {refused} refused");
    }

    #[test]
    fn what_comes_too_late_or_in_a_slot_that_is_taken_has_no_room() {
        let mut wheel = Wheel::new(SLOTS as u64);
        // Slots are 4 ns long.
        assert!(wheel.put(9, 9, 8));
        assert!(!wheel.put(10, 10, 8));
        assert!(!wheel.put(8 + 2_048, 8 + 2_048, 8));
        assert!(wheel.put(7 + 2_048, 7 + 2_048, 8));
        wheel.take();
        assert_eq!(wheel.first(), 7 + 2_048);
        wheel.take();
        assert_eq!(wheel.first(), NONE);
    }
}
