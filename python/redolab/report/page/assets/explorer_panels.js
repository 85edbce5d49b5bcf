"use strict";
// The explorer's figures, bars and table, filled from the results so far.
const explorer_panels = (meta, at, setting, sentences) => {
  const words = explorer_words;
  const { levels } = setting;
  const { ms } = sentences;
  // Looks of a bar's parts, and the simulator's states; transactions without a session yet are in none of them.
  const STATES = [["cpu", 1], ["queue", 2], ["wait1", 3], ["wait2", 4], ["wait3", 5], ["wait4", 6]];
  const BACKLOG = "wait5";
  const TOP = 2.5;

  const xy = (point, x, y) => ({ x: point.values[x], y: point.values[y] });
  const steady = (curve) => (curve ? curve.points.filter((point) => point.values) : []);
  const line = (curve, x, y) => steady(curve).map((point) => xy(point, x, y));

  function measured_points() {
    const alike = ({ levels: theirs }) => theirs.commit_wait === levels.commit_wait && theirs.rows_per_commit === levels.rows_per_commit
      && (theirs.arrival_rate_per_s === null) !== setting.is_open();
    return meta.measured.filter((one) => alike(one) && one.quantities.throughput_per_s?.point && one.quantities.response_time_ms?.point).map((one) => {
      const [x, y] = [one.quantities.throughput_per_s.point, one.quantities.response_time_ms.point];
      return { x, y, note: `${one.setting}, measured: ${words.significant(x)} per s, ${ms(y)}` };
    });
  }

  function elbow_mark(state) {
    const points = steady(state.curve);
    if (!state.elbow || !points.length) return [];
    const nearest = d3.least(points, (point) => Math.abs(point.level - state.elbow.sessions));
    return [{ kind: "tick", ...xy(nearest, "throughput_per_s", "response_time_ms"), text: `elbow: ${words.counted(state.elbow.sessions, "session")}` }];
  }

  function domain(values, logarithmic, most) {
    const [low, high] = d3.extent(values);
    if (!(low > 0)) return logarithmic ? [1, 10] : [0, 1];
    return logarithmic ? [low / 1.15, high * 1.15] : [0, 1.08 * Math.min(high, most)];
  }

  function response(state, width) {
    const [x, y] = ["throughput_per_s", "response_time_ms"];
    const own = state.outlook && xy(state.outlook, x, y), today = state.today && xy(state.today, x, y);
    const band = steady(state.curve).map((point) => ({ x: point.values[x], ...point.intervals[y].forecast }));
    const marks = [
      { kind: "band", points: band, color: "setting1" },
      { kind: "line", points: line(state.today_curve, x, y), color: "ink-soft" },
      { kind: "line", points: line(state.curve, x, "response_time_ms_p95"), color: "setting1", dash: "6 4", width: 1.4 },
      { kind: "line", points: line(state.curve, x, y), color: "setting1", width: state.stage === "rough" ? 1.2 : 2.4 },
      { kind: "dots", points: measured_points(), color: "setting2", hollow: true },
      ...elbow_mark(state),
      ...(setting.is_open() && state.curve?.capacity ? [{ kind: "wall", x: state.curve.capacity, text: "capacity" }] : []),
      ...(own && today ? [{ kind: "arrow", points: [today, own] }] : []),
      ...(today ? [{ kind: "dots", points: [{ ...today, note: "today, forecast" }], color: "ink-soft", size: 5 }] : []),
      ...(own ? [{ kind: "dots", points: [{ ...own, note: "asked" }], color: "setting1", size: 7, id: "explorer-own" }] : []),
    ];
    const all = marks.flatMap((mark) => mark.points || []).filter((it) => it.x > 0 && it.y > 0);
    // Near capacity R of arrivals has no end: the picture has.
    const most = setting.is_open() ? TOP * Math.max(own?.y || 0, today?.y || 0, d3.median(all, (it) => it.y) || 0) : Infinity;
    const log = state.logarithmic;
    return {
      width, height: 340, marks,
      x: { label: setting.is_open() ? "Arrivals per s" : "Commits per s", domain: domain(all.map((it) => it.x), log, Infinity), log },
      y: { label: "Response time R, ms", domain: domain(all.map((it) => it.y), log, most), log },
    };
  }

  function load(state, width) {
    const over = (curve, name, by) => steady(curve).map((point) => ({ x: point.level, y: by * point.values[name] }));
    const open = setting.is_open();
    const marks = open
      ? [
        { kind: "line", points: over(state.curve, "cpu_utilization", 100), color: "cpu" },
        { kind: "line", points: over(state.curve, "device_utilization", 100), color: "wait2", dash: "7 4" },
      ]
      : [
        { kind: "band", color: "setting1", points: steady(state.curve).map((point) => ({ x: point.level, ...point.intervals.throughput_per_s.forecast })) },
        { kind: "line", points: over(state.today_curve, "throughput_per_s", 1), color: "ink-soft" },
        { kind: "line", points: over(state.curve, "throughput_per_s", 1), color: "setting1" },
        ...(state.outlook ? [{ kind: "dots", points: [{ x: levels.sessions, y: state.outlook.values.throughput_per_s, note: "asked" }], color: "setting1", size: 6 }] : []),
      ];
    const all = marks.flatMap((mark) => mark.points);
    const [far, most] = [d3.max(all, (it) => it.x) || 2, d3.max(all, (it) => it.high ?? it.y) || 1];
    return {
      width, height: 240, marks,
      x: { label: open ? "Arrivals per s" : "Sessions", domain: open ? [0, 1.05 * far] : [1, Math.max(2, 1.1 * far)], log: !open },
      y: { label: open ? "Busy, %" : "Commits per s", domain: [0, open ? 105 : 1.08 * most] },
    };
  }

  function parts(outlook) {
    const each = (value) => (1e3 * value) / outlook.values.throughput_per_s;
    const found = STATES.map(([look, state]) => [look, each(outlook.states[state])]);
    return [...found, [BACKLOG, each(outlook.backlog)]].filter(([, value]) => value > 0);
  }

  function bars(state) {
    const both = [["Today", state.today], ["Asked", state.outlook]].map(([name, outlook]) => ({ name, parts: outlook ? parts(outlook) : [] }));
    const longest = d3.max(both, (one) => d3.sum(one.parts, ([, value]) => value));
    both.forEach(({ name, parts: of_it }, place) => {
      const item = at("bars").children[place];
      item.hidden = !of_it.length;
      item.querySelector(".bar-time").textContent = ms(d3.sum(of_it, ([, value]) => value));
      const bar = item.querySelector(".bar");
      bar.setAttribute("aria-label", `${name}: ${of_it.map(([look, value]) => `${meta.states[look]} ${ms(value)}`).join(", ")}`);
      bar.replaceChildren(...of_it.map(([look, value]) => {
        const part = document.createElement("span");
        part.className = `part look-${look}`;
        part.style.width = `${(100 * value) / longest}%`;
        part.title = `${meta.states[look]}: ${ms(value)}`;
        return part;
      }));
    });
  }

  // A figure with its interval; the exact numbers are in the cell's data.
  function told(row, value, by = 1, around_it = true) {
    const cell = row.insertCell();
    if (!value) return cell;
    const { text, interval } = words.estimate(value, by);
    cell.textContent = text;
    Object.assign(cell.dataset, { point: value.point, low: value.low, high: value.high });
    if (interval && around_it) {
      const around = cell.appendChild(document.createElement("span"));
      around.className = "interval";
      around.textContent = `\u00a0(${interval})`;
    }
    return cell;
  }

  function table(state) {
    const body = at("figures").tBodies[0];
    const several = levels.rows_per_commit > 1 || meta.today.rows_per_commit > 1;
    body.replaceChildren();
    for (const [name, title, by] of meta.rows) {
      if (name === "rows_per_s" && !several) continue;
      const row = body.insertRow();
      row.dataset.quantity = name;
      const head = row.appendChild(document.createElement("th"));
      Object.assign(head, { scope: "row", className: "left", textContent: title });
      const said = state.said?.quantities[name];
      if (said || !state.outlook) {
        told(row, said?.forecast, by);
      } else {
        const value = state.outlook.values[name];
        row.insertCell().textContent = value === null ? "" : `≈ ${words.significant(by * value)}`;
      }
      told(row, said?.ratio);
      told(row, state.today?.quantities[name].forecast, by, false);
      told(row, sentences.measured_today()[name], by, false);
    }
  }

  const LEGEND = [
    { name: "asked, with 90 % interval", color: "setting1" }, { name: "asked, 95th percentile of R", color: "setting1", dash: "6 4" },
    { name: "today, forecast", color: "ink-soft" }, { name: "measured", color: "setting2", dot: true, hollow: true },
  ];
  const BUSY = [{ name: "CPUs busy", color: "cpu" }, { name: "log device busy", color: "wait2", dash: "7 4" }];

  // Returns the response-time figure as it is drawn.
  function draw(state) {
    const width = Math.max(280, at("curve").clientWidth);
    const drawn = explorer_figures.draw(response(state, width));
    at("curve").replaceChildren(explorer_figures.legend(LEGEND), drawn.svg);
    const below = explorer_figures.draw(load(state, width));
    at("load").replaceChildren(explorer_figures.legend(setting.is_open() ? BUSY : []), below.svg);
    bars(state);
    table(state);
    return drawn;
  }

  return { draw };
};
