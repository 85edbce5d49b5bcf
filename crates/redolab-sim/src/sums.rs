//! Sums without a rounding error but the last.

/// The sum, rounded once.
///
/// Source: Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates",
/// Discrete and Computational Geometry 18 (1997); the rounding at the end is that of Python's `math.fsum`.
pub fn exact_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    // Parts that do not overlap, the smallest first; together they are the sum.
    let mut parts: Vec<f64> = Vec::new();
    for value in values {
        let mut high = value;
        let mut kept = 0;
        for place in 0..parts.len() {
            let (sum, lost) = both(high, parts[place]);
            if lost != 0.0 {
                parts[kept] = lost;
                kept += 1;
            }
            high = sum;
        }
        parts.truncate(kept);
        parts.push(high);
    }
    rounded(parts)
}

/// The sum of two numbers as it is rounded, and what rounding lost of it.
fn both(one: f64, other: f64) -> (f64, f64) {
    let (large, small) = if one.abs() < other.abs() { (other, one) } else { (one, other) };
    let sum = large + small;
    (sum, small - (sum - large))
}

fn rounded(mut parts: Vec<f64>) -> f64 {
    let Some(mut sum) = parts.pop() else { return 0.0 };
    while let Some(part) = parts.pop() {
        let (more, lost) = both(sum, part);
        sum = more;
        if lost != 0.0 {
            // What is lost may be half of the last place: then the parts below it decide.
            let below = parts.last().copied().unwrap_or(0.0);
            let further = 2.0 * lost;
            let next = sum + further;
            #[expect(clippy::float_cmp, reason = "whether it is half of the last place to the bit")]
            if below != 0.0 && (lost > 0.0) == (below > 0.0) && next - sum == further {
                sum = next;
            }
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_on_the_way() {
        assert_eq!(exact_sum([]).to_bits(), 0.0_f64.to_bits());
        let tenths = exact_sum([0.1; 10]);
        assert!((tenths - 1.0).abs() < f64::MIN_POSITIVE, "{tenths}");
        let gone = exact_sum([1e100, 1.0, -1e100, 1e-3]);
        assert!((gone - 1.001).abs() < f64::MIN_POSITIVE, "{gone}");
    }

    #[test]
    fn halves_of_the_last_place_are_decided_by_what_is_below() {
        let half = f64::EPSILON / 2.0;
        assert!(exact_sum([1.0, half]) <= 1.0);
        assert!(exact_sum([1.0, half, 1e-40]) > 1.0);
        assert!(exact_sum([1.0, half, -1e-40]) <= 1.0);
    }
}
