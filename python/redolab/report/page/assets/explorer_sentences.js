"use strict";
// The explorer's sentences: the answer, possible losses, and cautions.
const explorer_sentences = (meta, setting) => {
  const words = explorer_words;
  const BUSY = 0.85;
  const { levels } = setting;
  const ms = (value) => `${words.significant(value)} ms`;

  function measured_today() {
    return meta.measured.find((one) => one.setting === meta.setting)?.quantities || {};
  }

  function limit(values) {
    const { cpu_utilization: cpu, device_utilization: log } = values;
    if (Math.max(cpu, log) < BUSY) return setting.is_open() ? "Nothing is at its limit." : "Limit: the number of sessions.";
    return cpu > log ? "Limit: the CPUs." : "Limit: the log.";
  }

  // Named without being asked about: the sessions, and every factor that is not as usual.
  function named_setting() {
    const unusual = (factor) => levels[factor] !== meta.usual[factor] || levels[factor] !== meta.today[factor];
    const factors = meta.factors.filter((factor) => levels[factor] !== null && (factor === "sessions" || unusual(factor)));
    return factors.map((factor) => words.level(factor, levels[factor])).join(", ");
  }

  const sentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.?$/, ".")}`;

  function answer(state) {
    if (state.refused) return sentence(state.refused);
    if (!state.outlook) return "";
    const { values } = state.outlook;
    const name = setting.is_open() ? "response_time_ms" : levels.rows_per_commit > 1 ? "rows_per_s" : "throughput_per_s";
    const unit = { rows_per_s: "rows per s", throughput_per_s: "commits per s", response_time_ms: "ms of response time" }[name];
    const said = state.said?.quantities[name];
    const figure = said ? words.full(words.estimate(said.forecast)) : `about ${words.significant(values[name])}`;
    const ratio = said?.ratio && setting.changed().length ? `, ${words.estimate(said.ratio).text} times today's` : "";
    const { commit_time_ms_p50: p50, commit_time_ms_p95: p95 } = values;
    const commits = p50 === null ? "" : `Half of the commits take at most ${ms(p50)}, 95 % at most ${ms(p95)}. `;
    return `${named_setting()}: ${figure} ${unit}${ratio}. ${commits}${limit(values)}`;
  }

  // R with 5 % less CPU per transaction; `before` is R without it.
  function less(state) {
    if (!state.before || !state.outlook || state.stage === "rough") return "";
    const now = state.outlook.values.response_time_ms;
    const by = 100 * (1 - now / state.before);
    return `5 % less CPU per transaction: R is ${ms(now)} instead of ${ms(state.before)}, ${words.significant(Math.abs(by), 2)} % ${by < 0 ? "longer" : "shorter"}.`;
  }

  function lost(state) {
    if (levels.commit_wait === "wait") return "";
    const rate = state.outlook?.values.throughput_per_s;
    if (!rate || meta.longest_loss_s === null) return "A crash of the server may lose acknowledged commits.";
    const commits = words.significant(Number((meta.longest_loss_s * rate).toPrecision(2)));
    return `A crash of the server may lose up to ${commits} acknowledged commits, those of the last ${words.general(meta.longest_loss_s)} s.`;
  }

  function misfit(today) {
    const measured = measured_today();
    const outside = meta.fitting.filter((name) => measured[name] && today.quantities[name].forecast).flatMap((name) => {
      const { point } = measured[name];
      const { low, high } = today.quantities[name].forecast;
      const values = { quantity: meta.words.quantities[name], measured: words.significant(point), low: words.significant(low), high: words.significant(high) };
      return low <= point && point <= high ? [] : [words.filled(meta.words.outside, values)];
    });
    return outside.length ? [words.filled(meta.words.misfit, { outside: outside.join("; ") })] : [];
  }

  function beyond(one) {
    const text = (value) => (typeof value === "number" ? words.significant(value) : value);
    const measured = one.low === null ? "none" : one.low === one.high ? text(one.low) : `${text(one.low)} to ${text(one.high)}`;
    return words.filled(meta.words.beyond, { name: meta.names[one.factor], asked: text(one.asked), measured });
  }

  function cautions(state) {
    if (!state.outlook) return [];
    const told = [...meta.cautions, ...state.outlook.beyond.map(beyond)];
    if (state.today) told.push(...misfit(state.today));
    const family = meta.system ? `${state.outlook.family} (${meta.system})` : state.outlook.family;
    if (state.said?.quantities.throughput_per_s.forecast?.verified === 0) told.push(words.filled(meta.words.unverified, { family }));
    const device = levels.log_device_ms;
    if (device !== null && device < meta.least_device_ms) {
      told.push(words.filled(meta.words.quicker, { least: words.general(Number(meta.least_device_ms.toPrecision(3))), asked: words.general(device) }));
    }
    if (state.said?.lost) told.push(words.filled(meta.words.lost, { lost: state.said.lost, all: state.said.of }));
    return told;
  }

  return { answer, less, lost, cautions, measured_today, ms };
};
