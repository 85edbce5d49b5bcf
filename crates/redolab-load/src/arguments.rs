//! The arguments of a job's statement, dealt out anew for every row.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// One argument of a job's statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The session's number, from 0: in PostgreSQL an int4.
    Session,
    /// How many rows the session has come to, from 1: an int8.
    Row,
    /// The same text each time.
    Text(String),
    /// A key of the session's own, at random: its number times `per_session` and a random number below that, an int8.
    Key {
        /// Keys of each session.
        per_session: u64,
    },
}

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound<'a> {
    Session(i32),
    Number(i64),
    Text(&'a str),
}

/// Deals one session's arguments.
pub(crate) struct Hand<'a> {
    arguments: &'a [Argument],
    number: usize,
    random: Xoshiro256PlusPlus,
}

impl<'a> Hand<'a> {
    /// Of the session `number`, from 0; the same seed gives it the same keys.
    pub(crate) fn new(arguments: &'a [Argument], seed: u64, number: usize) -> Self {
        let mut seeds = Xoshiro256PlusPlus::seed_from_u64(seed);
        let seed = seeds.next_u64() ^ number as u64;
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { arguments, number, random }
    }

    /// The values for the row `row`, from 1.
    pub(crate) fn deal(&mut self, row: u64) -> Vec<Bound<'a>> {
        let (number, random) = (self.number, &mut self.random);
        self.arguments
            .iter()
            .map(|argument| match argument {
                Argument::Session => Bound::Session(i32::try_from(number).unwrap_or(i32::MAX)),
                Argument::Row => Bound::Number(i64::try_from(row).unwrap_or(i64::MAX)),
                Argument::Text(text) => Bound::Text(text),
                Argument::Key { per_session } => {
                    let key = (number as u64).saturating_mul(*per_session);
                    let key = key.saturating_add(below(random, *per_session));
                    Bound::Number(i64::try_from(key).unwrap_or(i64::MAX))
                }
            })
            .collect()
    }
}

/// Evenly distributed: at most one part in 2^64 / `limit` more often than another.
fn below(random: &mut Xoshiro256PlusPlus, limit: u64) -> u64 {
    let product = u128::from(random.next_u64()) * u128::from(limit);
    u64::try_from(product >> 64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments() -> [Argument; 4] {
        let text = Argument::Text("x".to_owned());
        [Argument::Session, Argument::Row, text, Argument::Key { per_session: 10 }]
    }

    fn keys(seed: u64, number: usize) -> Vec<i64> {
        let arguments = arguments();
        let mut hand = Hand::new(&arguments, seed, number);
        let key = |row| match hand.deal(row)[..] {
            [.., Bound::Number(key)] => key,
            _ => panic!("the last one is a key"),
        };
        (1..=1_000).map(key).collect()
    }

    #[test]
    fn every_row_has_its_number_and_every_session_its_own() {
        let arguments = arguments();
        let mut hand = Hand::new(&arguments, 1, 3);
        for row in [1, 2] {
            let dealt = hand.deal(row);
            assert_eq!(dealt[0], Bound::Session(3));
            assert_eq!(dealt[1], Bound::Number(i64::try_from(row).unwrap()));
            assert_eq!(dealt[2], Bound::Text("x"));
        }
    }

    #[test]
    fn keys_are_the_sessions_own_and_all_of_them_come_about_as_often() {
        for number in [0, 7] {
            let all = keys(5, number);
            let first = i64::try_from(number).unwrap() * 10;
            for key in first..first + 10 {
                let times = all.iter().filter(|&&one| one == key).count();
                // A hundred on average; within five standard deviations.
                assert!((53..148).contains(&times), "{key}: {times}");
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_keys_and_another_one_or_session_others() {
        assert_eq!(keys(5, 2), keys(5, 2));
        assert_ne!(keys(5, 2), keys(6, 2));
        let inside = |number: usize| {
            let first = i64::try_from(number).unwrap() * 10;
            keys(5, number).into_iter().map(|key| key - first).collect::<Vec<_>>()
        };
        assert_ne!(inside(0), inside(1));
    }
}
