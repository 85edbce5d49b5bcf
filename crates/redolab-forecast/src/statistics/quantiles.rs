//! Quantiles of a few numbers.

/// The value below which `share` (0 to 1) of the numbers lie, linear between neighbours; `sorted` has at least one.
///
/// Source: Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996),
/// definition 7.
pub fn linear(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len() - 1;
    let place = share * float(last);
    let (below, part) = (whole(place, last), place - place.floor());
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    // From the nearer end, as NumPy does.
    if part < 0.5 { low + (high - low) * part } else { high - (high - low) * (1.0 - part) }
}

/// The least of the numbers that at least `share` of them do not exceed; `sorted` has at least one.
///
/// Source: Hyndman and Fan (1996), definition 1.
pub fn inverted(sorted: &[f64], share: f64) -> f64 {
    let place = share * float(sorted.len()) - 1.0;
    sorted[whole(place.ceil().max(0.0), sorted.len() - 1)]
}

#[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "a place in a list")]
fn whole(place: f64, most: usize) -> usize {
    (place as usize).min(most)
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 numbers")]
fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-14
    }

    #[test]
    fn linear_ones_lie_between_neighbours() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (share, value) in [(0.0, 1.0), (1.0, 8.0), (0.5, 3.0), (0.05, 1.15), (0.95, 7.4)] {
            assert!(near(linear(&sorted, share), value), "{share}");
        }
        assert!(near(linear(&[5.0], 0.3), 5.0));
    }

    #[test]
    fn inverted_ones_are_numbers_of_the_list() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (share, value) in
            [(0.0, 1.0), (0.25, 1.0), (0.26, 2.0), (0.5, 2.0), (0.76, 8.0), (1.0, 8.0)]
        {
            assert!(near(inverted(&sorted, share), value), "{share}");
        }
    }
}
