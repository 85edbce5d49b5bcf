//! Counts of durations, in classes of 0.1 %.

/// How many durations were in each class.
///
/// The classes are those of HdrHistogram with three significant digits: 1 ns wide up to 2,048 ns, and
/// twice as wide for each doubling. There is no bound, and room only up to the longest seen.
#[derive(Debug, Default)]
pub struct Histogram {
    counts: Vec<u64>,
}

/// Classes in a doubling: 2^10.
const CLASS_BITS: u32 = 10;

impl Histogram {
    pub fn record(&mut self, ns: u64) {
        let class = class_of(ns);
        if let Some(count) = self.counts.get_mut(class) {
            *count += 1;
        } else {
            self.counts.resize(class + 1, 0);
            self.counts[class] = 1;
        }
    }

    pub fn add(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Longest duration of each class that has any, and how many it has.
    pub fn classes(&self) -> impl Iterator<Item = (u64, u64)> {
        let some = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        some.map(|(class, &count)| (longest_of(class), count))
    }

    /// The longest duration of the class in which each share of all is reached, shares rising.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "nobody simulates 2^53 commits"
    )]
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> [u64; N] {
        let total: u64 = self.counts.iter().sum();
        let mut classes = self.classes();
        let (mut longest, mut counted) = (0, 0);
        shares.map(|share| {
            let wanted = ((share * total as f64).ceil() as u64).clamp(1, total.max(1));
            while counted < wanted {
                let Some((next, count)) = classes.next() else { break };
                (longest, counted) = (next, counted + count);
            }
            longest
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "at most 55 times 1,024 classes")]
fn class_of(ns: u64) -> usize {
    let doublings = (ns >> CLASS_BITS | 1).ilog2();
    ((u64::from(doublings) << CLASS_BITS) + (ns >> doublings)) as usize
}

fn longest_of(class: usize) -> u64 {
    let class = class as u64;
    let doublings = (class >> CLASS_BITS).saturating_sub(1);
    let first = (class - (doublings << CLASS_BITS)) << doublings;
    first + ((1 << doublings) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_a_thousandth_wide_and_follow_one_another() {
        assert_eq!(class_of(0), 0);
        for class in 0..class_of(u64::MAX) {
            let longest = longest_of(class);
            assert_eq!((class_of(longest), class_of(longest + 1)), (class, class + 1));
            let width = longest_of(class + 1) - longest;
            assert!(width == 1 || width <= longest / 1_000, "{class}: {width}");
        }
        assert_eq!(longest_of(class_of(u64::MAX)), u64::MAX);
    }

    #[test]
    fn counts_and_quantiles_are_those_of_the_durations() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantiles([0.5]), [0]);
        for ns in [5, 1_000, 5, 4_097, 2_047] {
            histogram.record(ns);
        }
        let classes: Vec<_> = histogram.classes().collect();
        // From 4,096 ns on a class is 4 ns wide.
        assert_eq!(classes, [(5, 2), (1_000, 1), (2_047, 1), (4_099, 1)]);
        assert_eq!(histogram.quantiles([0.0, 0.4, 0.41, 0.8, 0.99]), [5, 5, 1_000, 2_047, 4_099]);
        let mut sum = Histogram::default();
        sum.add(&histogram);
        histogram.clear();
        histogram.record(7);
        sum.add(&histogram);
        assert_eq!(sum.classes().map(|(_, count)| count).sum::<u64>(), 6);
        assert_eq!(histogram.classes().collect::<Vec<_>>(), [(7, 1)]);
    }
}
