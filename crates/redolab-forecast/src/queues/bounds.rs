//! Asymptotic bounds of closed networks.

use crate::refused::Refused;

/// The number of sessions at which the two asymptotic bounds of throughput meet.
///
/// - `stations`: of each its demand (mean service time per round) and its number of servers.
/// - `think_time`: between rounds, in the unit of the demands.
///
/// Source: Lazowska, Zahorjan, Graham and Sevcik, Quantitative System Performance (1984), chapter 5 (N*).
///
/// # Errors
/// No station asks for any time.
pub fn sessions_at_elbow(stations: &[(f64, f64)], think_time: f64) -> Result<f64, Refused> {
    let slowest = stations.iter().map(|(demand, servers)| demand / servers).fold(0.0, f64::max);
    if slowest == 0.0 {
        let text = "no station asks for any time, so there is no elbow".to_owned();
        return Err(Refused::Invalid(text));
    }
    let demand: f64 = stations.iter().map(|(demand, _)| demand).sum();
    Ok((think_time + demand) / slowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_where_the_bounds_meet() {
        // Lazowska et al., section 6.4.1: CPU 0.605 s, disks 2.1 and 1.35 s, think time 15 s.
        let book = [(0.605, 1.0), (2.1, 1.0), (1.35, 1.0)];
        let elbow = sessions_at_elbow(&book, 15.0).unwrap();
        assert!((elbow - (15.0 + 4.055) / 2.1).abs() < 1e-12);
        assert!(sessions_at_elbow(&[(0.0, 1.0)], 1.0).is_err());
    }
}
