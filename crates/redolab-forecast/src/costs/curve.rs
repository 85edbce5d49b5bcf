//! Costs that depend on how many sessions compete.

/// Sessions, and a cost with so many, in their order; the first is one session.
pub type Curve = Vec<(u32, f64)>;

/// A cost with so many sessions.
///
/// While there is a CPU for each session, it is the cost of one. From there on it is linear in their number, between
/// the numbers measured. Beyond them it grows on as between the last two and never falls, however many CPUs there are.
#[must_use]
pub fn with_sessions(curve: &[(u32, f64)], sessions: u32, cpus: f64) -> f64 {
    let Some(&(_, alone)) = curve.first() else { return 0.0 };
    let own_cpu = cpus.max(1.0);
    let wide = |&(count, cost): &(u32, f64)| (f64::from(count), cost);
    let more = curve.iter().map(wide).filter(|point| point.0 > own_cpu);
    let points: Vec<_> = [(own_cpu, alone)].into_iter().chain(more).collect();
    let sessions = f64::from(sessions);
    if sessions <= cpus || points.len() == 1 {
        return alone;
    }
    let place = points.partition_point(|point| point.0 <= sessions).max(1);
    let beyond = place == points.len();
    let [(few, cost), (many, next)] = match curve {
        [.., one, other] if beyond => [wide(one), wide(other)],
        _ => [points[place - 1], points[place]],
    };
    let between = cost + (sessions - few) / (many - few) * (next - cost);
    if beyond { between.max(next) } else { between }
}

/// How much a cost grows with each session more, from the fewest to the most that compete.
pub(crate) fn per_session(curve: &[(u32, f64)]) -> f64 {
    let more: Vec<_> = curve.iter().filter(|point| point.0 > 1).collect();
    match more.as_slice() {
        [(few, least), .., (many, most)] => {
            ((most - least) / (f64::from(*many) - f64::from(*few))).max(0.0)
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    const CURVE: [(u32, f64); 3] = [(1, 10.0), (8, 20.0), (32, 40.0)];

    #[test]
    fn between_measured_numbers_of_sessions_it_is_linear() {
        for (sessions, cpus, cost) in [
            (2, 2.0, 10.0),
            (5, 2.0, 15.0),
            (8, 2.0, 20.0),
            (8, 16.0, 10.0),
            (20, 2.0, 30.0),
            (8, 8.0, 10.0),
            (1, 0.5, 10.0),
        ] {
            assert!(near(with_sessions(&CURVE, sessions, cpus), cost), "{sessions} {cpus}");
        }
    }

    #[test]
    fn beyond_them_it_grows_on_and_never_falls() {
        assert!(near(with_sessions(&CURVE, 44, 2.0), 50.0));
        for cpus in [2.0, 4.0, 16.0] {
            assert!(near(with_sessions(&[(1, 10.0), (32, 50.0)], 63, cpus), 90.0));
        }
        assert!(near(with_sessions(&[(1, 50.0), (32, 10.0)], 128, 2.0), 10.0));
        assert!(near(with_sessions(&[(1, 50.0)], 128, 2.0), 50.0));
        assert!(near(with_sessions(&[], 128, 2.0), 0.0));
    }

    #[test]
    fn each_session_more_costs_what_is_between_the_ends() {
        assert!(near(per_session(&CURVE), 20.0 / 24.0));
        assert!(near(per_session(&[(1, 1.0), (8, 2.0), (32, 1.0)]), 0.0));
        assert!(near(per_session(&[(1, 1.0), (8, 2.0)]), 0.0));
    }
}
