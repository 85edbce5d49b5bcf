//! Constant durations, worked out by hand to the nanosecond.

use redolab_sim::{Batch, Distribution, Load, Parameters, Plan, Seen, State, simulate};

fn constant(mean_ns: f64) -> Distribution {
    Distribution::Constant { mean_ns }
}

fn run(parameters: &Parameters, warm_up: u64, commits: u64) -> Seen {
    let plan = Plan { warm_up, batches: 1, commits_per_batch: commits };
    simulate(parameters, 1, plan).expect("the parameters are valid")
}

fn one(parameters: &Parameters, warm_up: u64, commits: u64) -> Batch {
    run(parameters, warm_up, commits).batches[0]
}

#[test]
fn one_session_is_the_sum_of_its_steps() {
    let mut parameters = Parameters::new(1);
    parameters.load = Load::Closed { think: constant(100_000.0) };
    parameters.rows = 3;
    parameters.row_cpu = constant(10_000.0);
    parameters.commit_cpu = constant(7_000.0);
    parameters.context_switch_ns = 500;
    parameters.flush_cpu_ns = 12_000;
    parameters.row_bytes = 50.0;
    parameters.commit_bytes = 20.0;
    parameters.write_cpu_ns_per_byte = 2.0;
    parameters.device = constant(1_000_000.0);
    parameters.device_ns_per_byte = 3.0;
    parameters.wake_ns = 25_000;
    let seen = one(&parameters, 1, 10);
    // 170 bytes. The CPU takes the session up twice: after its think time and after its flush.
    let cpu = 3 * 10_000 + 7_000 + 500;
    let flush = 12_000 + 2 * 170;
    let device = 1_000_000 + 3 * 170;
    let wake = 25_000 + 500;
    let commit = flush + device + wake;
    assert_eq!(seen.elapsed_ns, 10 * (100_000 + cpu + commit));
    assert_eq!(seen.commit_time.sum_ns, 10 * commit);
    assert_eq!(seen.response_time.sum_ns, 10 * (cpu + commit));
    assert_eq!(seen.cpu_busy_ns, 10 * (cpu + flush + wake));
    assert_eq!(seen.device_busy_ns, 10 * device);
    assert_eq!(seen.flushes, 10);
    assert_eq!(seen.state_ns[State::Idle as usize], 10 * 100_000);
    assert_eq!(seen.state_ns[State::OnCpu as usize], seen.cpu_busy_ns);
    assert_eq!(seen.state_ns[State::Device as usize], seen.device_busy_ns);
}

#[test]
fn a_slow_log_makes_two_groups_that_take_turns() {
    // The first session leads alone; the other seven commit during its flush, and so on: 1 and 7.
    let mut parameters = Parameters::new(8);
    parameters.cpus = 8.0;
    parameters.commit_cpu = constant(50_000.0);
    parameters.device = constant(1_000_000.0);
    let seen = one(&parameters, 8, 80);
    assert_eq!(seen.elapsed_ns, 20 * 1_000_000);
    assert_eq!(seen.flushes, 20);
    // A commit comes 50 us after the flush began that it just missed.
    assert_eq!(seen.commit_time.sum_ns, 80 * (2_000_000 - 50_000));
    assert_eq!(seen.device_busy_ns, seen.elapsed_ns);
}

#[test]
fn without_group_commit_the_device_serves_one_at_a_time() {
    let mut parameters = Parameters::new(8);
    parameters.cpus = 8.0;
    parameters.commit_cpu = constant(50_000.0);
    parameters.device = constant(1_000_000.0);
    parameters.group_commit = false;
    let seen = one(&parameters, 8, 80);
    assert_eq!(seen.elapsed_ns, 80 * 1_000_000);
    assert_eq!(seen.flushes, 80);
}

#[test]
fn waking_up_delays_the_next_flush() {
    // Two sessions: one's flush, its waking, the other's waking and flush CPU, and so on.
    let mut parameters = Parameters::new(2);
    parameters.cpus = 2.0;
    parameters.commit_cpu = constant(100_000.0);
    parameters.device = constant(1_000_000.0);
    parameters.wake_ns = 25_000;
    parameters.flush_cpu_ns = 15_000;
    let seen = one(&parameters, 4, 100);
    assert_eq!(seen.elapsed_ns, 100 * (1_000_000 + 25_000 + 25_000 + 15_000));
    assert_eq!(seen.flushes, 100);
}

#[test]
fn the_quantum_shares_one_cpu() {
    // Two sessions of 5 ms on one CPU with a quantum of 2 ms: A B A B A(1) B(1), a switch each time.
    let mut parameters = Parameters::new(2);
    parameters.commit_cpu = constant(5_000_000.0);
    parameters.quantum_ns = 2_000_000;
    parameters.context_switch_ns = 1_000;
    parameters.asynchronous = true;
    let seen = one(&parameters, 0, 1);
    let turn = 1_000 + 2_000_000;
    let last = 1_000 + 1_000_000;
    assert_eq!(seen.elapsed_ns, 4 * turn + last);
    // B waits in A's three turns, A in B's two.
    assert_eq!(seen.state_ns[State::RunQueue as usize], 4 * turn + last);
}

#[test]
fn a_quantum_shorter_than_a_switch_still_gets_work_done() {
    let mut parameters = Parameters::new(2);
    parameters.commit_cpu = constant(3_000.0);
    parameters.quantum_ns = 1_000;
    parameters.context_switch_ns = 5_000;
    parameters.asynchronous = true;
    // Three turns of 6 us each, and the other's: twice as long for two.
    assert_eq!(one(&parameters, 0, 2).elapsed_ns, 6 * 6_000);
}

#[test]
fn a_long_transaction_alone_is_not_interrupted() {
    let mut parameters = Parameters::new(1);
    parameters.commit_cpu = constant(5_000_000.0);
    parameters.quantum_ns = 2_000_000;
    parameters.context_switch_ns = 1_000;
    parameters.asynchronous = true;
    // It never leaves the CPU, so it is taken up once and for all.
    assert_eq!(one(&parameters, 0, 10).elapsed_ns, 10 * 5_000_000 + 1_000);
}

#[test]
fn what_is_not_a_whole_cpu_slows_all_of_them() {
    let mut parameters = Parameters::new(3);
    parameters.cpus = 1.5;
    parameters.commit_cpu = constant(750_000.0);
    parameters.asynchronous = true;
    let seen = one(&parameters, 0, 30);
    // Two CPUs at three quarters of their speed: 1 ms each time, two at a time.
    assert_eq!(seen.elapsed_ns, 15 * 1_000_000);
    assert_eq!(seen.cpu_busy_ns, 2 * seen.elapsed_ns);
}

#[test]
fn contention_is_paid_for_each_other_session_on_the_cpus() {
    let mut parameters = Parameters::new(4);
    parameters.cpus = 4.0;
    parameters.commit_cpu = constant(100_000.0);
    parameters.contention_ns = 1_000.0;
    parameters.asynchronous = true;
    let seen = one(&parameters, 4, 40);
    assert_eq!(seen.elapsed_ns, 10 * (100_000 + 3 * 1_000));
}

#[test]
fn background_work_takes_its_turn_on_the_cpu() {
    let mut parameters = Parameters::new(1);
    parameters.commit_cpu = constant(100_000.0);
    parameters.background_cpu_ns = 50_000.0;
    parameters.asynchronous = true;
    parameters.quantum_ns = 100_000;
    let seen = one(&parameters, 10, 100);
    // The quantum is over with every commit, and half as much is waiting to be done then.
    assert_eq!(seen.elapsed_ns, 100 * 150_000);
    assert_eq!(seen.cpu_busy_ns, seen.elapsed_ns);
    assert_eq!(seen.state_ns[State::RunQueue as usize], 100 * 50_000);
}

#[test]
fn a_commit_delay_gathers_when_enough_are_active() {
    let mut parameters = Parameters::new(4);
    parameters.cpus = 4.0;
    parameters.commit_cpu = constant(100_000.0);
    parameters.device = constant(1_000_000.0);
    parameters.commit_delay_ns = 500_000;
    parameters.commit_siblings = 3;
    // With a second row it counts as active before its commit.
    parameters.rows = 2;
    let seen = one(&parameters, 4, 40);
    // All four commit within the delay: one flush serves them all.
    assert_eq!(seen.flushes, 10);
    assert_eq!(seen.elapsed_ns, 10 * (100_000 + 500_000 + 1_000_000));
    assert_eq!(seen.state_ns[State::Delay as usize], 10 * 500_000);
    parameters.commit_siblings = 4;
    let seen = one(&parameters, 4, 40);
    assert_eq!(seen.flushes, 20);
    assert_eq!(seen.elapsed_ns, 20 * 1_000_000);
}

#[test]
fn an_asynchronous_commit_leaves_the_flush_to_the_log_writer() {
    let mut parameters = Parameters::new(1);
    parameters.cpus = 2.0;
    parameters.commit_cpu = constant(100_000.0);
    parameters.device = constant(3_000_000.0);
    parameters.flush_cpu_ns = 20_000;
    parameters.wake_ns = 5_000;
    parameters.asynchronous = true;
    parameters.writer_interval_ns = 10_000_000;
    let seen = one(&parameters, 0, 10_000);
    assert_eq!(seen.elapsed_ns, 10_000 * 100_000);
    assert_eq!(seen.commit_time.sum_ns, 0);
    // Interval, waking, CPU, device, waking: 13.03 ms from tick to tick.
    assert_eq!(seen.flushes, 1_000_000_000 / 13_030_000);
    assert_eq!(seen.cpu_busy_ns, seen.elapsed_ns + 76 * 30_000);
}

#[test]
fn the_log_writer_also_comes_when_there_is_much_to_flush() {
    let mut parameters = Parameters::new(1);
    parameters.cpus = 2.0;
    parameters.commit_cpu = constant(100_000.0);
    parameters.commit_bytes = 1_000.0;
    parameters.device = constant(250_000.0);
    parameters.asynchronous = true;
    parameters.writer_bytes = 5_000;
    let seen = one(&parameters, 0, 1_000);
    // It begins with the fifth commit, the tenth ...; the flush is over before the next fifth.
    assert_eq!(seen.flushes, 199);
    assert_eq!(seen.device_busy_ns, 199 * 250_000);
}

#[test]
fn a_large_batch_writes_its_log_before_it_commits() {
    let mut parameters = Parameters::new(1);
    parameters.rows = 1_000;
    parameters.row_cpu = constant(1_000.0);
    parameters.row_bytes = 100.0;
    parameters.commit_bytes = 0.0;
    parameters.early_write_bytes = 25_000;
    parameters.write_cpu_ns_per_byte = 1.0;
    parameters.device = constant(500_000.0);
    parameters.device_ns_per_byte = 10.0;
    let seen = one(&parameters, 1, 10);
    // Four parts; three are written early, and the commit writes the last and flushes all.
    assert_eq!(seen.commit_time.sum_ns, 10 * (25_000 + 500_000 + 1_000_000));
    assert_eq!(seen.elapsed_ns, 10 * (1_000_000 + 100_000 + 500_000 + 1_000_000));
    assert_eq!(seen.flushes, 10);
}

#[test]
fn an_early_write_waits_for_anothers() {
    let mut parameters = Parameters::new(2);
    parameters.cpus = 2.0;
    parameters.rows = 2;
    parameters.row_cpu = constant(100_000.0);
    parameters.row_bytes = 100.0;
    parameters.commit_bytes = 0.0;
    parameters.early_write_bytes = 100;
    parameters.write_cpu_ns_per_byte = 1.0;
    parameters.device = constant(10_000_000.0);
    let seen = one(&parameters, 0, 2);
    // Both have inserted 100 bytes at 100 us. A writes its own, then B; so A is 100 ns ahead when it
    // commits, and B, who commits during its flush, needs a flush of its own.
    let first = 100_000 + 100 + 100_000;
    let flush = 100 + 10_000_000;
    assert_eq!(seen.elapsed_ns, first + 2 * flush);
    assert_eq!(seen.commit_time.sum_ns, flush + 2 * flush - 100);
    // B's two waits; and A's next transaction has a part at 100 us, in the middle of B's flush.
    let waits = 100 + (flush - 100) + (flush - 100_000);
    assert_eq!(seen.state_ns[State::LogWait as usize], waits);
    assert_eq!(seen.flushes, 2);
}

#[test]
fn bursts_queue_for_a_session() {
    let mut parameters = Parameters::new(1);
    parameters.load = Load::Open { gap: constant(10_000_000.0), burst: 3 };
    parameters.commit_cpu = constant(1_000_000.0);
    parameters.device = constant(1_000_000.0);
    let seen = run(&parameters, 0, 9);
    let batch = seen.batches[0];
    // The first burst comes after a gap; each serves 1, 2, 3 in 2, 4 and 6 ms.
    assert_eq!(batch.elapsed_ns, 3 * 10_000_000 + 6_000_000);
    assert_eq!(batch.response_time.sum_ns, 3 * (2 + 4 + 6) * 1_000_000);
    assert_eq!(batch.backlog_ns, 3 * (2 + 4) * 1_000_000);
    assert_eq!(batch.arrivals, 9);
    assert_eq!(seen.backlog, 0);
}

#[test]
fn classes_hold_every_duration_once() {
    let mut parameters = Parameters::new(1);
    parameters.device = Distribution::TwoValued { usual_ns: 1e6, rare_ns: 1e7, rare_share: 0.25 };
    let seen = run(&parameters, 10, 10_000);
    let [(usual, often), (rare, seldom)] = seen.commit_times[..] else {
        panic!("two values, two classes: {:?}", seen.commit_times)
    };
    assert!((1_000_000..1_001_000).contains(&usual) && (10_000_000..10_010_000).contains(&rare));
    assert_eq!(often + seldom, 10_000);
    assert_eq!(seen.batches[0].commit_time.sum_ns, often * 1_000_000 + seldom * 10_000_000);
    // 2,500 expected, 43 the standard deviation.
    assert!((2_300..2_700).contains(&seldom), "{seldom}");
}
