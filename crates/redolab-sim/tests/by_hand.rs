//! Constant durations, worked out by hand to the nanosecond.

use redolab_sim::{
    Batch, Distribution, Load, Parameters, Plan, Seen, Span, State, Stopped, simulate,
    simulate_while,
};

fn ns(ns: u32) -> Span {
    Span::from(f64::from(ns) / 1e9)
}

fn constant(mean_ns: f64) -> Distribution {
    Distribution::Constant { mean: mean_ns / 1e9 }
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
    parameters.flush_cpu_s = ns(12_000);
    parameters.row_bytes = 50.0;
    parameters.commit_bytes = 20.0;
    parameters.device = constant(1_000_000.0);
    parameters.device_s_per_byte = 3.0 / 1e9;
    parameters.wake_s = ns(25_000);
    let seen = one(&parameters, 1, 10);
    let cpu = 3 * 10_000 + 7_000;
    let flush = 12_000;
    // 170 bytes.
    let device = 1_000_000 + 3 * 170;
    let wake = 25_000;
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
fn a_device_that_has_idled_takes_longer() {
    let mut parameters = Parameters::new(1);
    parameters.commit_cpu = constant(40_000.0);
    parameters.device = constant(1_000_000.0);
    // 40 us are a third of the way from 20 to 80.
    parameters.device_after_idle_s = [(20_000, 0), (80_000, 300_000), (800_000, 500_000)]
        .map(|(idle, more)| (ns(idle), ns(more)))
        .to_vec();
    let mut takes = |idle_ns: f64, more_ns: u64| {
        parameters.commit_cpu = constant(idle_ns);
        let seen = one(&parameters, 1, 10);
        assert_eq!(seen.device_busy_ns, 10 * (1_000_000 + more_ns), "after {idle_ns} ns");
        assert_eq!(seen.elapsed_ns, seen.device_busy_ns + seen.cpu_busy_ns);
    };
    takes(40_000.0, 100_000);
    takes(10_000.0, 0);
    takes(80_000.0, 300_000);
    takes(9_000_000.0, 500_000);
    // Sessions that take turns leave it no time.
    parameters.commit_cpu = constant(100_000.0);
    parameters.sessions = 2;
    parameters.cpus = 2.0;
    assert_eq!(one(&parameters, 4, 10).device_busy_ns, 10 * 1_000_000);
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

/// Sessions with a CPU each, 100 us of work and a log of 1 ms.
fn a_cpu_each(sessions: u32) -> Parameters {
    let mut parameters = Parameters::new(sessions);
    parameters.cpus = f64::from(sessions);
    parameters.commit_cpu = constant(100_000.0);
    parameters.device = constant(1_000_000.0);
    parameters
}

#[test]
fn waking_up_delays_the_next_flush() {
    // Two sessions: one's flush, its waking, the other's waking and flush CPU, and so on.
    let mut parameters = a_cpu_each(2);
    parameters.wake_s = ns(25_000);
    parameters.flush_cpu_s = ns(15_000);
    let seen = one(&parameters, 4, 100);
    assert_eq!(seen.elapsed_ns, 100 * (1_000_000 + 25_000 + 25_000 + 15_000));
    assert_eq!(seen.flushes, 100);
}

#[test]
fn the_quantum_shares_one_cpu() {
    // Two sessions of 5 ms on one CPU with a quantum of 2 ms: A B A B A(1) B(1).
    let mut parameters = Parameters::new(2);
    parameters.commit_cpu = constant(5_000_000.0);
    parameters.quantum_s = ns(2_000_000);
    parameters.asynchronous = true;
    let seen = one(&parameters, 0, 1);
    let turn = 2_000_000;
    let last = 1_000_000;
    assert_eq!(seen.elapsed_ns, 4 * turn + last);
    // B waits in A's three turns, A in B's two.
    assert_eq!(seen.state_ns[State::RunQueue as usize], 4 * turn + last);
}

#[test]
fn a_long_transaction_alone_is_not_interrupted() {
    let mut parameters = Parameters::new(1);
    parameters.commit_cpu = constant(5_000_000.0);
    parameters.quantum_s = ns(2_000_000);
    parameters.asynchronous = true;
    let seen = one(&parameters, 0, 10);
    assert_eq!(seen.elapsed_ns, 10 * 5_000_000);
    assert_eq!(seen.state_ns[State::RunQueue as usize], 0);
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
    parameters.contention_s = 1_000.0 / 1e9;
    parameters.asynchronous = true;
    let seen = one(&parameters, 4, 40);
    assert_eq!(seen.elapsed_ns, 10 * (100_000 + 3 * 1_000));
}

#[test]
fn a_commit_delay_gathers_when_enough_are_active() {
    let mut parameters = Parameters::new(4);
    parameters.cpus = 4.0;
    parameters.commit_cpu = constant(100_000.0);
    parameters.device = constant(1_000_000.0);
    parameters.commit_delay_s = ns(500_000);
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
    parameters.flush_cpu_s = ns(20_000);
    parameters.wake_s = ns(5_000);
    parameters.asynchronous = true;
    parameters.writer_interval_s = ns(10_000_000);
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
    parameters.device =
        Distribution::TwoValued { usual: 1e6 / 1e9, rare: 1e7 / 1e9, rare_share: 0.25 };
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

/// Whether these are the classes of the durations: a class is at most 0.1 % longer than what is in it.
fn are_classes_of(classes: &[(u64, u64)], durations: &[(u64, u64)]) -> bool {
    classes.len() == durations.len()
        && classes.iter().zip(durations).all(|(&(longest, seen), &(ns, count))| {
            seen == count && (ns..=ns + ns / 1_000).contains(&longest)
        })
}

#[test]
fn all_who_wait_are_woken_the_latest_first_and_who_never_slept_may_come_before_them() {
    // A, B and C on one CPU commit at 10, 20 and 30 us; A flushes until 1,010 and wakes until 1,015.
    // It wakes C and then B, but keeps the CPU, and has the log again at 1,025. C and B wake in vain
    // and are served by this flush, which ends at 2,025; A, awake at 2,030, wakes B and then C, as C
    // was the first to wait again, and is ahead of them once more.
    let mut parameters = Parameters::new(3);
    parameters.commit_cpu = constant(10_000.0);
    parameters.device = constant(1_000_000.0);
    parameters.wake_s = ns(5_000);
    let first = run(&parameters, 0, 4);
    assert_eq!(first.batches[0].elapsed_ns, 2_060_000);
    // Both twice, and B again after its second commit.
    assert_eq!(first.batches[0].log_waits, 5);
    let (b, c) = (2_045_000 - 20_000, 2_060_000 - 30_000);
    let times = [(1_005_000, 2), (b, 1), (c, 1)];
    assert!(are_classes_of(&first.commit_times, &times), "{:?}", first.commit_times);
    let seen = one(&parameters, 4, 40);
    assert_eq!(seen.elapsed_ns, 20 * (1_000_000 + 5_000 + 10_000));
    assert_eq!(seen.flushes, 20);
    assert_eq!(seen.flush_ns, 20 * 1_005_000);
    assert_eq!(seen.log_waits, 40);
    // From 2,055 to 4,075 us, and from 2,070 to 4,090.
    assert_eq!(seen.commit_time.sum_ns, 20 * 1_005_000 + 20 * 2_020_000);
}

#[test]
fn waking_others_costs_cpu_time() {
    // B waits from 100 us, is woken at 1,105 and leads at 1,110; meanwhile A has posted (7 us), and
    // commits at 1,212: one flush each, 1,010 us apart.
    let mut parameters = a_cpu_each(2);
    parameters.wake_s = ns(5_000);
    parameters.post_s = ns(7_000);
    let seen = one(&parameters, 2, 10);
    assert_eq!(seen.elapsed_ns, 10 * 1_010_000);
    assert_eq!(seen.flush_ns, 10 * 1_005_000);
    assert_eq!(seen.commit_time.sum_ns, 10 * (3_132_000 - 1_212_000));
    assert_eq!(seen.cpu_busy_ns, 10 * (100_000 + 5_000 + 5_000 + 7_000));
    // From 1,212 us to 2,115.
    assert_eq!(seen.state_ns[State::LogWait as usize], 10 * 903_000);
    assert_eq!(seen.log_waits, 10);
}

#[test]
fn the_others_are_woken_one_by_one() {
    // All commit at 100 us. A, whose flush is over at 1,105, wakes C and, 7 us later, B; C leads at 1,110 for
    // both. B is there at 1,117 in vain, and A done at 1,119. It waits from 1,219 on, is woken first at 2,115
    // and leads; B is woken at 2,122, and C done at 2,129.
    let mut parameters = a_cpu_each(3);
    parameters.wake_s = ns(5_000);
    parameters.post_s = ns(7_000);
    let seen = one(&parameters, 0, 3);
    assert_eq!(seen.elapsed_ns, 2_129_000);
    assert_eq!(seen.commit_time.sum_ns, (1_119_000 + 2_127_000 + 2_129_000) - 3 * 100_000);
    assert_eq!((seen.flushes, seen.log_waits), (2, 4));
}

/// Sessions that work 100 us without waiting for the log, on one CPU with its own queue.
fn one_queue(sessions: u32) -> Parameters {
    let mut parameters = Parameters::new(sessions);
    parameters.cpus = 1.0;
    parameters.commit_cpu = constant(100_000.0);
    parameters.asynchronous = true;
    parameters.own_queues = true;
    parameters
}

#[test]
fn of_those_who_have_had_no_more_than_the_mean_the_one_with_least_left_comes_next() {
    // Of a request of 300 us A has all left at first, B 225 and C 150. A commits three times; then C, whose
    // request is over in the midst of its second transaction, at 450; then B, who has had nothing yet, and
    // whose request is over at 675, in its third; and then C again, who has had less than either.
    let mut parameters = one_queue(3);
    parameters.quantum_s = ns(300_000);
    let seen = one(&parameters, 0, 7);
    assert_eq!(seen.elapsed_ns, 725_000);
    assert_eq!(seen.state_ns[State::OnCpu as usize], 725_000);
    assert_eq!(seen.state_ns[State::RunQueue as usize], 2 * 725_000);
}

#[test]
fn who_is_woken_takes_the_cpu_from_one_who_has_had_more_than_the_mean() {
    // Of a request of 1 ms A has all left at first, B 750 us and C 500; each thinks for 50 first. The order is
    // A, C, B, and at 350 us C again, though A has waited since 200. At 400 B comes: C has had 150 us then, A
    // 100 and B as much as they on average, so B has the CPU at once. At 500 it sleeps with 225, which stays in
    // the mean: so C, with 150 not more than that, comes before A again, for its other 50 us.
    let mut parameters = one_queue(3);
    parameters.quantum_s = ns(1_000_000);
    parameters.load = Load::Closed { think: constant(50_000.0) };
    let seen = one(&parameters, 0, 6);
    assert_eq!(seen.elapsed_ns, 650_000);
    // A, C, B, B, C, A.
    let responses = [100_000, 200_000, 300_000, 100_000, 250_000, 450_000];
    assert_eq!(seen.response_time.sum_ns, responses.iter().sum::<u64>());
}

#[test]
fn who_was_served_while_asleep_goes_on_more_slowly() {
    // One session's flush and one for the two others take turns. Of the two the one that came last wakes first and
    // leads; the other wakes in vain at one release, and served at the next.
    let mut parameters = a_cpu_each(3);
    parameters.wake_s = ns(5_000);
    parameters.served_s = ns(7_000);
    let seen = one(&parameters, 3, 30);
    assert_eq!(seen.elapsed_ns, 10 * 2 * (1_000_000 + 5_000 + 5_000));
    assert_eq!(seen.flushes, 20);
    assert_eq!(seen.log_waits, 40);
    assert_eq!(seen.commit_time.sum_ns, 10 * (1_920_000 + 1_908_000 + 1_932_000));
    assert_eq!(seen.cpu_busy_ns, 10 * (3 * 100_000 + 6 * 5_000 + 7_000));
}

/// Two sessions on a log of 1 ms, two CPUs with a queue each.
fn two_queues() -> Parameters {
    let mut parameters = a_cpu_each(2);
    parameters.wake_s = ns(5_000);
    parameters.own_queues = true;
    // Longer than any test takes.
    parameters.quantum_s = ns(1_000_000_000);
    parameters.idle_exit_s = ns(6_000);
    parameters.halt_exit_s = ns(30_000);
    parameters
}

#[test]
fn who_is_woken_goes_to_his_last_cpu_while_it_is_awake() {
    let mut parameters = two_queues();
    parameters.halt_after_s = ns(1_000_000_000);
    let seen = one(&parameters, 2, 10);
    // The flush, its leader's waking, and the other's on a CPU that idled.
    assert_eq!(seen.elapsed_ns, 10 * (1_000_000 + 5_000 + 6_000 + 5_000));
    assert_eq!(seen.state_ns[State::RunQueue as usize], 0);
}

#[test]
fn who_is_woken_goes_to_his_last_cpu_though_it_is_halted() {
    let seen = one(&two_queues(), 2, 10);
    assert_eq!(seen.elapsed_ns, 10 * (1_000_000 + 5_000 + 30_000 + 5_000));
    assert_eq!(seen.cpu_busy_ns, 10 * (100_000 + 5_000 + 30_000 + 5_000));
}

#[test]
fn who_waited_for_the_device_goes_where_its_interrupt_is() {
    // B, whose flush ends at 2,140 us, runs where A sleeps that it then wakes. So both are on one CPU from
    // then on; the other stays halted. Say that A leads. 1,005 us later it wakes B, works on and leads again
    // after 100; B is woken in vain, and has had less of the CPU. So B takes it at the next
    // release, is served, works and leads, 1,110 after A did; A works then, and is what B was.
    let mut parameters = two_queues();
    parameters.device_cpu = Some(0);
    let seen = one(&parameters, 30, 30);
    assert_eq!(seen.elapsed_ns, 10 * (1_105_000 + 1_110_000));
    assert_eq!(seen.flushes, 20);
    assert_eq!(seen.log_waits, 20);
    // B commits 100 us after A's first flush began, and is there 5 after the release of the second.
    assert_eq!(seen.commit_time.sum_ns, 10 * (2 * 1_005_000 + 1_105_000 - 100_000 + 1_010_000));
    assert_eq!(seen.state_ns[State::RunQueue as usize], 10 * (100_000 + 105_000));
    assert_eq!(seen.cpu_busy_ns, 10 * (3 * 100_000 + 4 * 5_000));
}

#[test]
fn who_finds_his_cpu_busy_goes_to_another_that_is_awake_while_there_is_little_to_do() {
    // The same, but who is woken up does not wait: he is on the other CPU, and leads, 11 us later.
    let mut parameters = two_queues();
    parameters.device_cpu = Some(0);
    parameters.spread_below = 1.0;
    parameters.halt_after_s = ns(1_000_000_000);
    let seen = one(&parameters, 3, 30);
    assert_eq!(seen.elapsed_ns, 30 * (1_000_000 + 5_000 + 6_000 + 5_000));
    assert_eq!(seen.state_ns[State::RunQueue as usize], 0);
    // Not to one that is halted.
    parameters.halt_after_s = ns(0);
    assert_eq!(one(&parameters, 3, 30).elapsed_ns, 10 * (1_105_000 + 1_110_000));
}

#[test]
fn who_waited_for_the_device_takes_longer_where_its_interrupt_finds_another() {
    // A, on the CPU that the device tells, is there at once after its flush. B's flushes end while A works: 6 us
    // sooner, for that CPU need not wake up, and B is on its own 30 us later. Every 358 us B releases the log at the
    // same time after A's last commit.
    let mut parameters = two_queues();
    parameters.device = constant(50_000.0);
    parameters.device_cpu = Some(0);
    let seen = one(&parameters, 6, 40);
    assert_eq!(seen.elapsed_ns, 10 * 358_000);
    // From there on A, who wanted to commit 13 us before, leads 35 us later and commits at 90, B at 179, A at 245,
    // B again at 358.
    assert_eq!(seen.commit_time.sum_ns, 10 * (103_000 + 79_000 + 55_000 + 79_000));
    assert_eq!(seen.flushes, 40);
}

#[test]
fn who_is_where_the_device_tells_that_it_is_done_has_that_to_do_too() {
    // As before. Twice in 358 us a flush of B's ends while A works, which takes A 5 us longer: A commits so much
    // later, and waits so much less for the log that B has. A's own flushes end where nobody is.
    let mut parameters = two_queues();
    parameters.device = constant(50_000.0);
    parameters.device_cpu = Some(0);
    let without = one(&parameters, 6, 40);
    parameters.interrupt_s = ns(5_000);
    let seen = one(&parameters, 6, 40);
    assert_eq!(seen.elapsed_ns, 10 * 358_000);
    assert_eq!(seen.commit_time.sum_ns, 10 * (103_000 + 79_000 + 55_000 + 79_000 - 2 * 5_000));
    assert_eq!(seen.cpu_busy_ns, without.cpu_busy_ns + 10 * 2 * 5_000);
}

#[test]
fn who_is_interrupted_at_each_flush_of_another_gets_on() {
    // Both have one CPU. However long an interrupt is, a third of each flush that finds one of them at work is his.
    let mut parameters = Parameters::new(2);
    parameters.own_queues = true;
    parameters.commit_cpu = constant(1_000.0);
    parameters.quantum_s = ns(10_000);
    for device_ns in [0.0, 60.0, 1_000.0] {
        parameters.device = constant(device_ns);
        parameters.interrupt_s = ns(2_000);
        let seen = one(&parameters, 100, 200);
        let waited_ns: u64 = seen.state_ns.iter().sum();
        assert_eq!(waited_ns, 2 * seen.elapsed_ns);
        // N = X R, but for the two under way at each end.
        assert!(seen.response_time.sum_ns.abs_diff(waited_ns) < waited_ns / 50, "{device_ns}");
    }
}

/// Three sessions that think 50 us and work 100 us on two CPUs with a queue each, of which none halts, and where
/// nobody goes by himself who was not there.
fn three_that_think() -> Parameters {
    let mut parameters = Parameters::new(3);
    parameters.cpus = 2.0;
    parameters.load = Load::Closed { think: constant(50_000.0) };
    parameters.commit_cpu = constant(100_000.0);
    parameters.asynchronous = true;
    parameters.own_queues = true;
    parameters.halt_after_s = ns(1_000_000_000);
    parameters
}

#[test]
fn a_cpu_that_runs_dry_leaves_who_waits_in_anothers_queue() {
    // A and C take turns on one CPU, 100 us each; B has the other, which idles 50 of 150, every second time
    // while one waits for the first.
    assert_eq!(one(&three_that_think(), 8, 40).elapsed_ns, 8 * 300_000);
}

#[test]
fn a_cpu_that_idles_takes_over_who_waits_when_it_looks() {
    let mut parameters = three_that_think();
    parameters.load = Load::Closed { think: constant(600_000.0) };
    parameters.commit_cpu = constant(1_200_000.0);
    parameters.quantum_s = ns(1_000_000_000);
    assert_eq!(one(&parameters, 0, 6).elapsed_ns, 5_400_000);
    // Looking at 3,700 us it finds C, who came at 3,600; and B, who comes back at 4,200, waits for it.
    parameters.balance_s = ns(3_700_000);
    let seen = one(&parameters, 0, 6);
    assert_eq!(seen.elapsed_ns, 4_900_000);
    assert_eq!(seen.state_ns[State::RunQueue as usize], 1_200_000 + 600_000 + 100_000 + 700_000);
}

#[test]
fn who_had_a_cpu_lately_is_taken_over_at_the_third_look_in_a_row() {
    // One CPU idles while somebody waits for the other from 300 to 350 us, and every 300 after. It looks at 310, at
    // 620 and at 930: who waits then is done at 1,030 instead of 1,050.
    let mut parameters = three_that_think();
    assert_eq!(one(&parameters, 0, 16).elapsed_ns, 1_050_000);
    parameters.balance_s = ns(310_000);
    assert_eq!(one(&parameters, 0, 16).elapsed_ns, 1_030_000);
    // At 465 and 775 nobody waits.
    parameters.balance_s = ns(155_000);
    assert_eq!(one(&parameters, 0, 16).elapsed_ns, 1_050_000);
}

#[test]
fn arrivals_and_timers_wake_a_cpu_that_idles() {
    let mut parameters = Parameters::new(1);
    parameters.load = Load::Open { gap: constant(1_000_000.0), burst: 1 };
    parameters.commit_cpu = constant(100_000.0);
    parameters.asynchronous = true;
    parameters.idle_exit_s = ns(6_000);
    parameters.halt_exit_s = ns(30_000);
    parameters.halt_after_s = ns(1_000_000);
    assert_eq!(one(&parameters, 0, 10).response_time.sum_ns, 10 * 106_000);
    parameters.halt_after_s = ns(100_000);
    assert_eq!(one(&parameters, 0, 10).response_time.sum_ns, 10 * 130_000);
    let mut parameters = two_queues();
    parameters.sessions = 1;
    parameters.commit_delay_s = ns(500_000);
    parameters.commit_siblings = 0;
    parameters.halt_after_s = ns(100_000);
    // Not after its flush: that is part of the device's time as measured.
    let commit = 500_000 + 30_000 + 5_000 + 1_000_000 + 5_000;
    assert_eq!(one(&parameters, 1, 10).commit_time.sum_ns, 10 * commit);
}

/// Sessions of a client with statements that the server works on for 50 us and the client for 20, one
/// each in a transaction that waits for nothing.
fn client(sessions: u32) -> Parameters {
    let mut parameters = Parameters::new(sessions);
    parameters.cpus = 2.0;
    parameters.commit_cpu = constant(50_000.0);
    parameters.asynchronous = true;
    parameters.statements = 1;
    parameters.client_s = ns(20_000);
    parameters
}

#[test]
fn a_lone_sessions_client_wakes_up_for_each_answer() {
    let mut parameters = client(1);
    let seen = one(&parameters, 2, 10);
    assert_eq!(seen.elapsed_ns, 10 * 70_000);
    assert_eq!(seen.commit_time.sum_ns, 10 * 70_000);
    assert_eq!(seen.response_time.sum_ns, 10 * 70_000);
    assert_eq!(seen.state_ns[State::Client as usize], 10 * 20_000);
    assert_eq!(seen.state_ns[State::OnCpu as usize], 10 * 50_000);
    assert_eq!(seen.client_wakes, 10);
    parameters.client_wake_s = ns(5_000);
    assert_eq!(one(&parameters, 2, 10).elapsed_ns, 10 * 75_000);
    // Either side has a CPU of its own, which idles meanwhile.
    parameters.hand_over_exit_s = ns(7_000);
    parameters.own_queues = true;
    assert_eq!(one(&parameters, 2, 10).elapsed_ns, 10 * (75_000 + 2 * 7_000));
}

#[test]
fn a_client_thread_works_for_one_session_after_the_other() {
    // From 40 us on: A is served on the second CPU until 70 us, while the thread sends for B; then it
    // waits for A's answer, and B runs until 120. The thread has slept only where it found no answer.
    let parameters = client(2);
    let seen = one(&parameters, 4, 20);
    assert_eq!(seen.elapsed_ns, 10 * 70_000);
    assert_eq!(seen.cpu_busy_ns, 20 * 70_000);
    assert_eq!(seen.commit_time.sum_ns, 20 * 70_000);
    // With a CPU for all, the thread has the answers of both when it has the CPU again.
    let mut parameters = client(2);
    parameters.cpus = 1.0;
    parameters.client_wake_s = ns(4_000);
    let seen = one(&parameters, 4, 20);
    assert_eq!(seen.elapsed_ns, 10 * (2 * 70_000 + 4_000));
    assert_eq!(seen.client_wakes, 10);
}

#[test]
fn sessions_are_dealt_out_over_the_clients_threads() {
    let mut parameters = client(4);
    parameters.cpus = 8.0;
    parameters.commit_cpu = constant(10_000.0);
    // One thread is the bottleneck, at 20 us a statement; with four, nobody waits for another.
    assert_eq!(one(&parameters, 8, 40).elapsed_ns, 40 * 20_000);
    parameters.client_threads = 4;
    assert_eq!(one(&parameters, 8, 40).elapsed_ns, 10 * 30_000);
}

#[test]
fn the_commit_is_the_last_of_a_clients_statements() {
    let mut parameters = client(1);
    parameters.commit_cpu = constant(120_000.0);
    parameters.device = constant(1_000_000.0);
    parameters.asynchronous = false;
    parameters.statements = 3;
    let seen = one(&parameters, 1, 10);
    assert_eq!(seen.elapsed_ns, 10 * 1_180_000);
    assert_eq!(seen.commit_time.sum_ns, 10 * (40_000 + 1_000_000 + 20_000));
}

#[test]
fn parts_of_a_long_transaction_cost_the_client_all_their_statements() {
    let mut parameters = client(1);
    parameters.commit_cpu = constant(1_000_000.0);
    parameters.statements = 1_000;
    parameters.client_wake_s = ns(5_000);
    parameters.hand_over_exit_s = ns(7_000);
    let seen = one(&parameters, 1, 10);
    // To whole nanoseconds in each of 240 parts.
    let expected = 10 * (1_000_000 + 1_000 * (25_000 + 2 * 7_000));
    assert!(seen.elapsed_ns.abs_diff(expected) < 10 * 240, "{}", seen.elapsed_ns);
}

#[test]
fn a_client_hears_of_an_arrival_before_it_sends() {
    let mut parameters = client(1);
    parameters.load = Load::Open { gap: constant(1_000_000.0), burst: 1 };
    parameters.halt_exit_s = ns(30_000);
    parameters.client_wake_s = ns(5_000);
    let seen = one(&parameters, 1, 10);
    assert_eq!(seen.response_time.sum_ns, 10 * (30_000 + 25_000 + 50_000 + 25_000));
    assert_eq!(seen.commit_time.sum_ns, 10 * (50_000 + 25_000));
}

#[test]
fn between_its_waits_for_the_device_a_flush_needs_a_cpu() {
    let mut parameters = Parameters::new(1);
    parameters.commit_cpu = constant(100_000.0);
    parameters.flush_cpu_s = ns(50_000);
    parameters.wake_s = ns(5_000);
    parameters.device = constant(1_000_000.0);
    parameters.device_write_s = ns(60_000);
    let lone = one(&parameters, 1, 10);
    assert_eq!(lone.elapsed_ns, 10 * (100_000 + 50_000 + 1_000_000 + 5_000));
    assert_eq!(lone.cpu_busy_ns, 10 * 155_000);
    assert_eq!((lone.flushes, lone.device_busy_ns), (10, 10 * 1_000_000));
    // Another has the CPU when the first half is done: 100 us from 50 after the flush's beginning on.
    parameters.sessions = 2;
    parameters.device = constant(100_000.0);
    let seen = run(&parameters, 0, 1).batches[0];
    // A's CPU part is over at 140 us, its half of the device at 190, while B works from 140 to 240 and
    // goes to sleep; then A has the CPU for 10 us, the device until 300, and the CPU for 5.
    assert_eq!(seen.elapsed_ns, 240_000 + 10_000 + 50_000 + 5_000);
}

#[test]
fn an_emulated_device_keeps_its_time_whatever_comes_between() {
    // As before: B has the CPU from 140 us to 240, A then for its 10. But its device was to be done at
    // 140 + 100 + 10, and so it is.
    let mut parameters = Parameters::new(2);
    parameters.commit_cpu = constant(100_000.0);
    parameters.flush_cpu_s = ns(50_000);
    parameters.wake_s = ns(5_000);
    parameters.device = constant(100_000.0);
    parameters.device_write_s = ns(60_000);
    parameters.device_paced = true;
    let seen = run(&parameters, 0, 1).batches[0];
    assert_eq!(seen.elapsed_ns, 250_000 + 5_000);
}

#[test]
fn caches_are_cold_after_a_flush() {
    let mut parameters = Parameters::new(1);
    parameters.commit_cpu = constant(100_000.0);
    parameters.device = constant(1_000_000.0);
    parameters.cold_s = ns(20_000);
    assert_eq!(one(&parameters, 1, 10).elapsed_ns, 10 * 1_120_000);
    // Not where nothing is waited for.
    parameters.asynchronous = true;
    assert_eq!(one(&parameters, 1, 10).elapsed_ns, 10 * 100_000);
}

#[test]
fn a_transaction_of_one_row_counts_as_active_from_its_commit_on() {
    // All four commit at the same instant, and the first finds nobody active; at its release the three
    // others are, and in their leader's delay it commits once more.
    let mut parameters = Parameters::new(4);
    parameters.cpus = 4.0;
    parameters.commit_cpu = constant(100_000.0);
    parameters.device = constant(1_000_000.0);
    parameters.commit_delay_s = ns(500_000);
    parameters.commit_siblings = 2;
    let seen = one(&parameters, 5, 50);
    assert_eq!(seen.elapsed_ns, 10 * (100_000 + 1_000_000 + 500_000 + 1_000_000));
    assert_eq!(seen.state_ns[State::Delay as usize], 10 * 500_000);
    assert_eq!(seen.flushes, 20);
    // The delay is not part of a flush.
    assert_eq!(seen.flush_ns, 20 * 1_000_000);
}

#[test]
fn a_simulation_ends_when_it_is_too_long_or_no_longer_wanted() {
    // The device takes an hour, and a CPU that idles looks for work every microsecond.
    let mut parameters = Parameters::new(1);
    parameters.device = constant(3.6e12);
    parameters.balance_s = ns(1_000);
    let plan = Plan { warm_up: 0, batches: 1, commits_per_batch: 1 };
    let too_long = simulate_while(&parameters, 1, plan, 10_000, || true);
    assert_eq!(too_long, Err(Stopped::TooLong(10_000)));
    let mut asked = 0;
    let unwanted = simulate_while(&parameters, 1, plan, u64::MAX, || {
        asked += 1;
        asked < 3
    });
    assert_eq!((unwanted, asked), (Err(Stopped::Unwanted), 3));
}

#[test]
fn a_thousandth_of_a_cpu_is_the_least() {
    let mut parameters = Parameters::new(1);
    parameters.commit_cpu = constant(1_000.0);
    parameters.cpus = 0.001;
    assert_eq!(one(&parameters, 1, 1).elapsed_ns, 1_000_000);
    for cpus in [0.000_999, 1e-300, 0.0, -1.0, f64::NAN, f64::INFINITY] {
        parameters.cpus = cpus;
        assert!(parameters.check().is_err(), "{cpus}");
    }
}
