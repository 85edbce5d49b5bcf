"use strict";
// The setting asked about: its controls, its presets, and the link that names it.
const explorer_setting = (meta, at) => {
  const words = explorer_words;
  const PREFIX = "#e1:";
  const OPEN = "arrival_rate_per_s";
  const RATES = 40, RATES_REACH = 200, BEYOND_CAPACITY = 1.3, FIRST_RATE = 0.6;

  const levels = { ...meta.today };
  const controls = meta.controls.map((spec) => ({ ...spec, range: at(spec.factor), number: at(`${spec.factor}-number`), box: at(`${spec.factor}-box`) }));
  let capacity = meta.throughput_per_s;
  let told = () => {};

  const is_open = () => levels[OPEN] !== null;
  const changed = () => meta.factors.filter((factor) => levels[factor] !== meta.today[factor]);
  const fragment = () => PREFIX + changed().map((factor) => `${factor}=${levels[factor]}`).join(",");
  const round = (value) => Number(value.toPrecision(3));

  const rates = () => d3.range(RATES).map((place) => round(BEYOND_CAPACITY * capacity * RATES_REACH ** (place / (RATES - 1) - 1)));
  const steps_of = (control) => (control.factor === OPEN ? rates() : control.steps);

  function nearest(steps, value) {
    if (value === null) return 0;
    const far = (one) => (one === null ? Infinity : Math.abs(Math.log((one || 1e-3) / (value || 1e-3))));
    return d3.minIndex(steps, far);
  }

  function measured_of(factor) {
    const values = meta.measured.map((one) => one.levels[factor]).filter((value) => typeof value === "number");
    return values.length ? d3.extent(values) : null;
  }

  function is_beyond(control, value) {
    if (control.none) return value !== null;
    const range = measured_of(control.factor);
    return value !== null && (range === null || value > 1.05 * range[1] || value < 0.95 * range[0]);
  }

  function spoken(control, value) {
    if (value === null) return control.none || "";
    const range = measured_of(control.factor);
    const text = `${words.significant(value)} ${control.unit}`.trim();
    if (!is_beyond(control, value)) return text;
    if (range && range[1] > 0 && value > range[1]) return `${text}, ${words.significant(value / range[1], 2)} times the largest measured value`;
    return `${text}, not measured`;
  }

  // Ticks at the measured levels; for the device and the CPUs, at what the run had.
  function mark(control) {
    const had = { log_device_ms: meta.device_ms, cpus: meta.cpus }[control.factor];
    const values = had === undefined ? meta.measured.map((one) => one.levels[control.factor]) : [had];
    const places = new Set(values.filter((value) => typeof value === "number").map((value) => nearest(control.steps, value)));
    if (!control.steps.length || !places.size) return;
    const list = document.createElement("datalist");
    list.id = `${control.range.id}-measured`;
    list.append(...[...places].map((place) => new Option("", place)));
    control.range.after(list);
    control.range.setAttribute("list", list.id);
  }

  const quoted = (name) => (/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

  function show() {
    for (const control of controls) {
      const value = levels[control.factor];
      const steps = steps_of(control);
      control.box.hidden = control.factor === OPEN ? !is_open() : control.factor === "think_time_ms" && is_open();
      control.range.max = steps.length - 1;
      control.range.value = nearest(steps, value);
      if (document.activeElement !== control.number) control.number.value = value === null ? "" : Number(value.toPrecision(6));
      control.box.classList.toggle("beyond", is_beyond(control, value));
      control.range.setAttribute("aria-valuetext", spoken(control, value));
    }
    at("wait").checked = levels.commit_wait === "wait";
    at("loop").checked = !is_open();
    at("open").checked = is_open();
    at("fewer").disabled = !is_open();
    at("link").value = `${location.href.split("#")[0]}${fragment()}`;
    const sets = changed().map((factor) => ` --set ${factor}=${levels[factor]}`).join("");
    at("command").textContent = `redolab forecast ${quoted(meta.run)}${sets}`;
    at("verify").textContent = `redolab verify-forecast ${quoted(meta.run)}${sets}`;
    try {
      if (changed().length || location.hash.startsWith(PREFIX)) history.replaceState(null, "", changed().length ? fragment() : location.href.split("#")[0]);
    } catch {
      // A page inside another page may not do this.
    }
  }

  // Reads a link: known factors, numbers within the controls' reach. Returns the parts that it had to refuse.
  function read_link() {
    if (!location.hash.startsWith(PREFIX)) return null;
    const wrong = new Set();
    Object.assign(levels, meta.today);
    let text = "";
    try {
      text = decodeURIComponent(location.hash.slice(PREFIX.length));
    } catch {
      wrong.add("characters that cannot be decoded");
    }
    for (const part of text.split(",").slice(0, 2 * meta.factors.length)) {
      const [factor, value] = part.split("=", 2);
      if (factor === "commit_wait" && (value === "wait" || value === "nowait")) {
        levels.commit_wait = value;
      } else if (Object.hasOwn(meta.limits, factor) && value && Number.isFinite(Number(value))) {
        const { least, most, whole } = meta.limits[factor];
        const number = whole ? Math.round(Number(value)) : Number(value);
        levels[factor] = Math.min(Math.max(number, least), most);
        if (levels[factor] !== Number(value)) wrong.add(`${factor} must be from ${least} to ${most}${whole ? ", a whole number" : ""}`);
      } else if (part) {
        wrong.add("an unknown factor or value");
      }
    }
    if (is_open()) levels.think_time_ms = 0;
    return [...wrong];
  }

  function set(factor, value) {
    levels[factor] = value;
    told("");
  }

  function scaled(factor, by, otherwise) {
    const { least, most, whole } = meta.limits[factor];
    const value = (levels[factor] ?? otherwise) * by;
    set(factor, Math.min(Math.max(whole ? Math.round(value) : Number(value.toPrecision(6)), least), most));
  }

  const presets = {
    rows: () => scaled("rows_per_commit", 8),
    cpu: () => scaled("cpu_factor", 0.8),
    fewer: () => scaled(OPEN, 0.8),
    cpus: () => scaled("cpus", 2, meta.cpus),
    device: () => scaled("log_device_ms", 0.5, meta.device_ms),
    less: () => scaled("cpu_factor", 0.95),
    reset: () => {
      Object.assign(levels, meta.today);
      told("");
    },
  };

  // `heard` is called after every change, with the reason where a change was refused.
  function listen(heard) {
    told = heard;
    controls.forEach(mark);
    for (const control of controls) {
      control.range.addEventListener("input", () => set(control.factor, steps_of(control)[Number(control.range.value)]));
      control.number.addEventListener("change", () => {
        const text = control.number.value.trim();
        const { least, most, whole } = meta.limits[control.factor];
        const value = text === "" && control.none ? null : Number(text);
        const fits = value === null || (text !== "" && value >= least && value <= most && (!whole || Number.isInteger(value)));
        if (fits) levels[control.factor] = value;
        told(fits ? "" : `${control.label} is ${text || "empty"}; it must be ${whole ? "a whole number " : ""}from ${least} to ${most}.`);
      });
      control.number.addEventListener("blur", show);
    }
    at("wait").addEventListener("change", () => set("commit_wait", at("wait").checked ? "wait" : "nowait"));
    at("loop").addEventListener("change", () => set(OPEN, null));
    at("open").addEventListener("change", () => {
      levels.think_time_ms = 0;
      set(OPEN, round(FIRST_RATE * capacity));
    });
  }

  return {
    levels, show, read_link, listen, presets, set, changed, is_open,
    is_link: () => location.hash.startsWith(PREFIX),
    // Throughput of a loop of as many sessions, per second: arrivals go a little beyond.
    know_capacity: (per_s) => { capacity = per_s; },
  };
};
