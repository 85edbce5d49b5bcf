"use strict";
// Figures and sentences as the terminal writes them (`redolab.units`, `redolab.report.tables.cells`).
const explorer_words = (() => {
  const minus = (text) => text.replaceAll("-", "−");
  const grouped = (value, decimals) => value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  const power = (value) => Math.floor(Math.log10(Math.abs(value)));

  // A tie goes to the even digit, as in Python; a decimal tie has few binary digits.
  function rounded(value, decimals) {
    const unit = 10 ** decimals;
    const is_tie = Math.abs((value * unit) % 1) === 0.5 && Number.isInteger(value * 2 ** (Math.max(0, decimals) + 1));
    if (is_tie) return (2 * Math.round((value * unit) / 2)) / unit;
    return decimals >= 0 ? Number(value.toFixed(Math.min(decimals, 20))) : Math.round(value * unit) / unit;
  }

  function significant(value, digits = 3) {
    if (value === 0) return "0";
    const decimals = Math.max(0, digits - 1 - power(value));
    return minus(grouped(rounded(value, decimals), decimals));
  }

  function decimals_of(point, low, high) {
    const largest = Math.max(Math.abs(point), Math.abs(low), Math.abs(high));
    if (largest === 0 || !Number.isFinite(largest)) return 0;
    const by_size = 2 - power(largest);
    const width = high - low;
    if (width <= 0) return by_size;
    const of_width = power(width);
    const by_width = (width < 3.5 * 10 ** of_width ? 1 : 0) - of_width;
    return Math.max(by_size, Math.min(by_width, by_size + 2));
  }

  function fixed(value, decimals) {
    return value === 0 ? "0" : minus(grouped(rounded(value, decimals) + 0, Math.max(0, decimals)));
  }

  // Point and interval to the digit that the interval's width makes meaningful.
  function estimate(value, factor = 1) {
    if (!value || value.point === null) return { text: "n/a", interval: "" };
    const point = factor * value.point;
    if (value.low === null || value.high === null) return { text: significant(point), interval: "" };
    const [low, high] = [factor * value.low, factor * value.high];
    if (Math.max(Math.abs(low), Math.abs(high)) > 20 * Math.abs(point) && Math.abs(point) > 0) {
      return { text: significant(point), interval: `${significant(low)} – ${significant(high)}` };
    }
    const decimals = decimals_of(point, low, high);
    return { text: fixed(point, decimals), interval: `${fixed(low, decimals)} – ${fixed(high, decimals)}` };
  }

  const full = (said) => (said.interval ? `${said.text} (${said.interval})` : said.text);

  // A sentence with its places filled: {name}.
  const filled = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));

  const counted = (value, word) => `${value.toLocaleString("en-US")} ${word}${value === 1 ? "" : "s"}`;

  // As C's %g: six digits at the most, no zeros at the end.
  const general = (value) => String(Number(value.toPrecision(6)));

  const LEVELS = {
    sessions: (value) => counted(value, "session"),
    rows_per_commit: (value) => `${counted(value, "row")} per commit`,
    commit_wait: (value) => value,
    commit_delay_us: (value) => `commit delay ${value.toLocaleString("en-US")} µs`,
    log_device_ms: (value) => `log device ${general(value)} ms`,
    cpus: (value) => `${general(value)} effective CPUs`,
    think_time_ms: (value) => `think time ${general(value)} ms`,
    arrival_rate_per_s: (value) => `${value.toLocaleString("en-US", { maximumSignificantDigits: 6 })} arrivals per s`,
    cpu_factor: (value) => `${general(value)} times the CPU time per transaction`,
  };

  const level = (factor, value) => LEVELS[factor](value);

  return { significant, estimate, full, filled, counted, general, level };
})();
