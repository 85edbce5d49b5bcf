"use strict";
// Asks the WebAssembly module, the latest question first: between any two settings it checks for a newer question.
(() => {
  const TODAY = 0, ASKED = 1, POINT = 2;
  const ROUGH = 2000;
  const NO_STEADY_STATE = 2, NO_ANSWER = 4;
  const ALIVE_MS = 300;
  const SESSIONS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512];
  const SHARES = [0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.78, 0.85, 0.9, 0.94, 0.97, 1];

  let wasm, factors, quantities, today, replicates = 0;
  let waiting = null, working = false, said = 0;
  let todaySaid = null;
  const todayCurves = new Map();

  const post = (message) => {
    said = performance.now();
    self.postMessage(message);
  };

  class Newer extends Error {}

  class Refused extends Error {
    constructor(code, text) {
      super(text);
      this.code = code;
    }
  }

  const numbers = () => Array.from(new Float64Array(wasm.memory.buffer, wasm.output(), wasm.output_count()));
  const text = () => new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, wasm.text(), wasm.text_count()));

  function called(code) {
    if (code !== 0) throw new Refused(code, text());
    return numbers();
  }

  function give(values) {
    const at = wasm.input(values.length);
    new Float64Array(wasm.memory.buffer, at, values.length).set(values);
  }

  // The order of the crate redolab-forecast.
  const waits = ["nowait", "wait", "redo", "binlog"];

  function give_setting(levels) {
    give(factors.map((factor) => {
      const level = levels[factor];
      if (level === null) return NaN;
      return factor === "commit_wait" ? waits.indexOf(level) : level;
    }));
  }

  const known = (value) => (Number.isNaN(value) ? null : value);
  const named = (values) => Object.fromEntries(quantities.map((name, place) => [name, known(values[place])]));

  // A module of another version has other numbers in other places: better none than wrong ones.
  function fits(is_so) {
    if (!is_so) throw new Error("the module does not fit the page");
  }

  function begin(slot, levels, commits) {
    give_setting(levels);
    const found = called(wasm.begin(slot, commits));
    const family = text();
    const count = quantities.length;
    fits(found.length >= count + 8 && (found.length - count - 8) % 4 === 0);
    const beyond = [];
    for (let at = count + 8; at < found.length; at += 4) {
      const word = (value) => (factors[found[at]] === "commit_wait" && !Number.isNaN(value) ? waits[value] : known(value));
      beyond.push({ factor: factors[found[at]], asked: word(found[at + 1]), low: word(found[at + 2]), high: word(found[at + 3]) });
    }
    return { values: named(found), states: found.slice(count, count + 7), backlog: found[count + 7], family, beyond };
  }

  function intervals(slot) {
    const found = called(wasm.intervals(slot));
    fits(found.length === 1 + 7 * quantities.length);
    const of = (place) => (at) => known(found[1 + 7 * place + at]);
    const both = quantities.map((name, place) => {
      const at = of(place);
      const forecast = at(0) === null ? null : { point: at(0), low: at(1), high: at(2), verified: at(3) };
      const ratio = at(4) === null ? null : { point: at(4), low: at(5), high: at(6) };
      return [name, { forecast, ratio }];
    });
    return { lost: found[0], of: replicates, quantities: Object.fromEntries(both) };
  }

  const channel = new MessageChannel();
  const breath = () => new Promise((go) => {
    channel.port2.onmessage = go;
    channel.port1.postMessage(0);
  });

  async function step(work) {
    await breath();
    if (waiting) throw new Newer();
    return work();
  }

  // While a slider is dragged, questions come faster than curves are done: the point of a newer one is posted at once,
  // and the rough curve in progress still ends.
  async function patient(work) {
    await breath();
    if (waiting && !waiting.pointed) waiting.pointed = { steady: point(waiting, ROUGH) };
    return work();
  }

  // The levels of a curve: sessions of a loop, or rates up to the throughput of a loop of as many sessions.
  async function places(levels, ask, next) {
    if (levels.arrival_rate_per_s === null) {
      const most = Math.max(64, 2 * levels.sessions, ask.most_sessions);
      const numbers = new Set([...SESSIONS.filter((one) => one <= most), levels.sessions]);
      return { factor: "sessions", levels: [...numbers].sort((one, other) => one - other), capacity: null };
    }
    const loop = { ...levels, arrival_rate_per_s: null, think_time_ms: 0 };
    const capacity = (await next(() => begin(POINT, loop, ROUGH))).values.throughput_per_s;
    return { factor: "arrival_rate_per_s", levels: SHARES.map((share) => share * capacity), capacity };
  }

  async function curve(levels, ask, commits) {
    const next = commits === ROUGH ? patient : step;
    const found = await places(levels, ask, next);
    const points = [];
    for (const level of found.levels) {
      const point = await next(() => {
        try {
          const outlook = begin(POINT, { ...levels, [found.factor]: level }, commits);
          return { level, values: outlook.values, intervals: intervals(POINT).quantities };
        } catch (refused) {
          if (refused.code !== NO_STEADY_STATE) throw refused;
          return { level, values: null, intervals: null };
        }
      });
      points.push(point);
    }
    return { factor: found.factor, capacity: found.capacity, points };
  }

  // Today's setting in the form of the question: arrivals, or a loop.
  const today_like = (levels) => ({ ...today, arrival_rate_per_s: levels.arrival_rate_per_s, ...(levels.arrival_rate_per_s === null ? {} : { think_time_ms: 0 }) });

  async function today_curve(ask, commits) {
    const levels = today_like(ask.levels);
    const key = JSON.stringify([levels.arrival_rate_per_s === null, ask.most_sessions, commits]);
    if (!todayCurves.has(key)) todayCurves.set(key, await curve(levels, ask, commits));
    return todayCurves.get(key);
  }

  async function of_replicates(slot) {
    for (let one = 0; one < replicates; one += 1) await step(() => called(wasm.replicate(slot, one)));
    return intervals(slot);
  }

  async function today_told() {
    if (todaySaid) return;
    const outlook = await step(() => begin(TODAY, today, 0));
    todaySaid = { ...outlook, ...(await of_replicates(TODAY)) };
  }

  // None where throughput still grows at the most sessions that are tried.
  function elbow_of_asked() {
    try {
      const [sessions, throughput_per_s, best_sessions, best_throughput_per_s] = called(wasm.elbow(ASKED));
      return { sessions, throughput_per_s, best_sessions, best_throughput_per_s };
    } catch (refused) {
      if (refused.code !== NO_ANSWER) throw refused;
      return null;
    }
  }

  const tell = (ask, kind, content) => post({ id: ask.id, kind, ...content });

  // Whether the asked setting has a steady state; its curve has one up to its capacity in either case.
  function point(ask, commits) {
    try {
      tell(ask, "point", { rough: commits > 0, outlook: begin(ASKED, ask.levels, commits) });
      return true;
    } catch (refused) {
      if (!(refused instanceof Refused)) throw refused;
      tell(ask, "refused", { text: refused.message });
      if (refused.code !== NO_STEADY_STATE) throw refused;
      return false;
    }
  }

  async function curves(ask, commits) {
    const both = { curve: await curve(ask.levels, ask, commits), today: await today_curve(ask, commits) };
    const latest = waiting || ask;
    const is_alike = (latest.levels.arrival_rate_per_s === null) === (ask.levels.arrival_rate_per_s === null);
    if (is_alike) tell(latest, "curve", both);
  }

  async function answer(ask) {
    try {
      const { steady } = ask.pointed || { steady: point(ask, ROUGH) };
      await curves(ask, ROUGH);
      await today_told();
      tell(ask, "today", { today: todaySaid });
      if (steady && (await step(() => point(ask, 0)))) tell(ask, "said", { said: await of_replicates(ASKED) });
      await curves(ask, 0);
      if (steady && ask.levels.arrival_rate_per_s === null) tell(ask, "elbow", { elbow: await step(elbow_of_asked) });
    } catch (error) {
      if (error instanceof Newer) return;
      if (!(error instanceof Refused)) throw error;
    }
    tell(ask, "settled", {});
  }

  async function work() {
    if (working) return;
    working = true;
    try {
      while (waiting) {
        const ask = waiting;
        waiting = null;
        await answer(ask);
      }
    } catch (error) {
      post({ kind: "failed", text: String(error) });
    }
    working = false;
  }

  async function start(message) {
    ({ factors, quantities, today } = message);
    const wanted = () => {
      if (performance.now() - said > ALIVE_MS) post({ kind: "alive" });
      return 1;
    };
    wasm = (await WebAssembly.instantiate(message.wasm, { env: { wanted } })).instance.exports;
    if (message.costs) {
      give(new Float64Array(message.costs));
      [replicates] = called(wasm.read_costs());
    }
    post({ kind: "ready" });
  }

  // Response times of formulas, at one rate after the other.
  function formula({ id, curves, shown }) {
    const times = ({ kind, service, servers, rates }) => rates.map((rate) => known(wasm.response_time(kind, service, rate, servers)));
    post({ id, kind: "formula", curves: curves.map(times), shown });
    post({ id, kind: "settled" });
  }

  self.onmessage = ({ data }) => {
    if (data.what === "start") {
      start(data).catch((error) => post({ kind: "failed", text: String(error) }));
    } else if (data.what === "formula") {
      formula(data);
    } else {
      waiting = data;
      work();
    }
  };
})();
