//! Rounds to whole nanoseconds or bytes.

/// To the nearest nanosecond.
#[expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "no duration is negative"
)]
pub fn whole(ns: f64) -> u64 {
    // Processors convert to signed integers; to others takes two conversions and a choice.
    (ns + 0.5) as i64 as u64
}

/// A number of nanoseconds or bytes, times something.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53: 104 days, 9 petabytes")]
#[expect(clippy::float_cmp, reason = "most often it is exactly 1 or 0")]
pub fn scaled(count: u64, times: f64) -> u64 {
    if times == 1.0 {
        count
    } else if times == 0.0 {
        0
    } else {
        whole(count as f64 * times)
    }
}
