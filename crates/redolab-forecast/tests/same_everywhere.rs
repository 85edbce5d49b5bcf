//! The same costs and settings give the same forecasts, on every machine and in WebAssembly, bit by bit.

use redolab_forecast::{
    Asking, Calibration, Effort, LEVEL, Scenario, Waits, answer_interval, bounds_elbow,
    commits_of_forecast, elbow, elbow_near, erlang_b, erlang_c, extrapolated, family_of,
    fewest_rows, largest_arrival_rate, open_queue, predicted, predicted_ratio, prediction_interval,
    ratio_of_sums, response_time_cpu, response_time_io, simulated,
};

/// FNV-1a over the bits of numbers and the letters of words.
struct Hash(u64);

impl Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn numbers(&mut self, numbers: &[f64]) {
        for number in numbers {
            self.bytes(&number.to_bits().to_le_bytes());
        }
    }
}

fn calibration(in_client: bool, emulated: bool) -> Calibration {
    Calibration {
        in_client,
        cpus: 2,
        transaction_cpu_s: vec![(1, 44.7e-6), (8, 53.1e-6), (32, 71.9e-6)],
        row_cpu_s: vec![(1, 5.1e-6), (8, 5.9e-6)],
        flush_cpu_s: 15.3e-6,
        wake_s: 21.7e-6,
        commit_bytes: 113.0,
        row_bytes: 97.0,
        // From 0.1 to 0.7 ms, the longer the rarer.
        flush_s: (0..40_i32).map(|place| 6e-3 / f64::from(60 - place)).collect(),
        device_s_per_byte: 1.1e-9,
        after_idle_s: vec![(0.0, 0.0), (2.1e-3, 1.3e-4)],
        client_s: if in_client { vec![(1, 11.3e-6), (8, 12.9e-6)] } else { vec![(1, 0.0)] },
        client_wake_s: if in_client { 6.7e-6 } else { 0.0 },
        hand_over_exit_s: if in_client { 17.9e-6 } else { 0.0 },
        served_s: vec![(1, 5.3e-6), (32, 7.7e-6)],
        available: 0.87,
        available_waiting: 0.83,
        cold_s: 8.9e-6,
        emulated,
        one_interrupt: !in_client,
        ..Calibration::default()
    }
}

fn scenarios() -> Vec<Scenario> {
    let usual = Scenario::new(8);
    vec![
        usual.clone(),
        Scenario::new(1),
        Scenario::new(64),
        Scenario { rows_per_commit: 32, ..usual.clone() },
        Scenario { rows_per_commit: 128, ..Scenario::new(3) },
        Scenario { commit_wait: Waits::Nothing, ..Scenario::new(16) },
        Scenario { commit_delay_us: 333, ..Scenario::new(33) },
        Scenario { log_device_ms: Some(4.7), ..usual.clone() },
        Scenario { cpus: Some(7.3), ..Scenario::new(48) },
        Scenario { think_time_ms: 2.9, cpu_factor: 1.7, ..Scenario::new(21) },
        Scenario { arrival_rate_per_s: Some(1_234.5), ..Scenario::new(64) },
        Scenario { arrival_rate_per_s: Some(1e6), ..usual },
    ]
}

fn of_settings(hash: &mut Hash, calibration: &Calibration) {
    let measured = [Scenario::new(1), Scenario::new(8)];
    for scenario in scenarios() {
        hash.bytes(family_of(&scenario).as_bytes());
        for beyond in extrapolated(calibration, &measured, &scenario) {
            hash.bytes(beyond.factor.as_bytes());
        }
        let needs = calibration.needs_of(&scenario).unwrap();
        let (_, few) = commits_of_forecast(&needs);
        match simulated(&needs, few.min(5_000), || true) {
            Ok(quantities) => {
                for (name, value) in quantities.named() {
                    let near = [0.97 * value, 1.02 * value];
                    let found = predicted(name, value, &near, &[0.1, -0.07], true).unwrap();
                    hash.numbers(&[value, found.low, found.high]);
                }
            }
            Err(refused) => hash.bytes(refused.to_string().as_bytes()),
        }
    }
}

fn of_answers(hash: &mut Hash, calibration: &Calibration) {
    let scenario = Scenario { rows_per_commit: 8, ..Scenario::new(4) };
    let ask = |question: &mut dyn FnMut(Asking<'_>)| {
        question(Asking { calibration, wanted: &mut || true });
    };
    ask(&mut |asking| {
        let found = largest_arrival_rate(asking, &scenario, 30.0, Effort::Quick).unwrap();
        let looping = found.looping_throughput_per_s;
        hash.numbers(&[found.rate_per_s, found.response_time_ms_p95, looping]);
    });
    ask(&mut |asking| {
        let found = fewest_rows(asking, &Scenario::new(2), 0.8, Effort::Quick).unwrap();
        hash.bytes(&found.rows_per_commit.to_le_bytes());
        hash.numbers(&[found.rows_per_s, found.rows_per_s_of_one, found.rows_per_s_of_many]);
    });
    let scenario = Scenario { commit_wait: Waits::Nothing, ..Scenario::new(4) };
    hash.numbers(&[bounds_elbow(calibration, &scenario).unwrap()]);
    ask(&mut |asking| {
        let found = elbow(asking, &scenario).unwrap();
        hash.bytes(&found.sessions.to_le_bytes());
        hash.numbers(&[found.throughput_per_s, found.best_throughput_per_s]);
        ask(&mut |asking| {
            let again = elbow_near(asking, &scenario, &found).unwrap();
            hash.bytes(&again.to_le_bytes());
        });
    });
}

fn of_formulas(hash: &mut Hash) {
    for place in 1..200_i32 {
        let share = f64::from(place) / 200.0;
        let servers = i64::from(place % 7 + 1);
        let offered = share * f64::from(place % 7 + 1);
        let queue = open_queue(offered / 0.37, 0.37, servers).unwrap();
        hash.numbers(&[
            response_time_cpu(0.37, share / 0.37 * 3.3, 3.3).unwrap(),
            response_time_io(0.37, share / 0.37, 1.0).unwrap(),
            erlang_b(servers, offered).unwrap(),
            erlang_c(servers, offered).unwrap(),
            queue.response_time,
            queue.response_time_quantile(share).unwrap(),
        ]);
        let values: Vec<f64> = (1..=place % 15).map(|one| share - 0.031 * f64::from(one)).collect();
        let again: Vec<f64> = values.iter().map(|value| 100.0 * (1.0 + value)).collect();
        let found = prediction_interval(100.0, &again, &values, share, place % 2 == 0).unwrap();
        let ratio = predicted_ratio(2.0, &again, &values, &[0.1; 12], false).unwrap();
        hash.numbers(&[found.low, found.high, ratio.low, ratio.high]);
        if let Some(ratio) = ratio_of_sums(&again, &vec![1.5; again.len()]) {
            hash.numbers(&[ratio.point, ratio.low, ratio.high]);
        }
        if let Some((low, high)) = answer_interval(100.0 * LEVEL, &again) {
            hash.numbers(&[low, high]);
        }
    }
}

/// Of formulas, of a server's answers, and of settings of a server, a client and a server with an emulated log device.
fn hashes() -> [u64; 5] {
    let begun = || Hash(0xcbf2_9ce4_8422_2325);
    let (mut formulas, mut answers) = (begun(), begun());
    of_formulas(&mut formulas);
    of_answers(&mut answers, &calibration(false, false));
    let [server, client, emulated] = [(false, false), (true, false), (false, true)].map(|kind| {
        let mut settings = begun();
        of_settings(&mut settings, &calibration(kind.0, kind.1));
        settings.0
    });
    [formulas.0, answers.0, server, client, emulated]
}

#[test]
fn forecasts_are_the_same_bits() {
    let found = hashes().map(|hash| format!("{hash:016x}"));
    let expected = [
        "c971b035f34bf7a0",
        "0f69ded174959ba1",
        "d04301af9c7b253d",
        "a4fff2f555f63d44",
        "f8f15465e0187110",
    ];
    assert_eq!(found, expected);
}
