"use strict";
// The published response-time curve with sliders for S, M and L, through the run's points; the module computes it.
page_parts.libraries.then(() => {
  const root = document.getElementById("published-curve");
  if (!root) return;
  const meta = JSON.parse(document.getElementById("published-data").textContent);
  const at = (name) => document.getElementById(`published-${name}`);
  const words = explorer_words;
  const [CPU, ERLANG] = [0, 2];
  const STEPS = 200, REACH = 4, SHARES = d3.range(1, 61).map((step) => (0.98 * step) / 60);
  const known = meta.curves.filter((curve) => curve.servers !== null);
  let chosen = known[0], service = 0, servers = 0, rate = 0;

  // The middle of a slider is where the run is; its ends are four times less and more.
  const scale = (middle) => (place) => middle * REACH ** ((2 * place) / STEPS - 1);
  const ms = (value) => `${words.significant(value)} ms`;

  function reset() {
    [service, servers, rate] = [chosen.service_time_ms, chosen.servers, chosen.rate_per_s];
    at("service").value = at("servers").value = at("rate").value = STEPS / 2;
    ask();
  }

  function ask() {
    const rates = SHARES.map((share) => (share * servers * 1e3) / service);
    for (const [name, value] of [["service", service], ["servers", servers], ["rate", rate]]) {
      at(`${name}-value`).textContent = words.significant(value);
      at(name).setAttribute("aria-valuetext", words.significant(value));
    }
    // S as it is, and 5 % less of it at the rate that is asked about.
    calculator.ask({ what: "formula", curves: [
      { kind: CPU, service: service / 1e3, servers, rates: [...rates, rate] },
      // Servers are whole: M/M/m does not exist for less than one.
      { kind: ERLANG, service: service / 1e3, servers: Math.round(servers), rates: Math.round(servers) ? rates : [] },
      { kind: CPU, service: (0.95 * service) / 1e3, servers, rates: [rate] },
    ], shown: { rates } });
  }

  function show({ curves: [cpu, erlang, less], shown: { rates } }) {
    const line = (times) => rates.map((x, place) => ({ x, y: (times[place] ?? null) === null ? null : 1e3 * times[place] })).filter((it) => it.y !== null);
    const [own, faster] = [cpu.at(-1), less[0]].map((seconds) => (seconds === null ? null : 1e3 * seconds));
    const points = meta.points.filter((one) => one.setting === chosen.setting).flatMap((one) => one.rates.map((x, place) => ({ x, y: one.times[place],
      note: `${one.setting}: ${words.significant(x)} per s, ${ms(one.times[place] ?? 0)}` }))).filter((it) => it.x !== null && it.y !== null);
    const far = 1.05 * Math.max(d3.max(points, (it) => it.x) || 0, rates.at(-1), rate);
    const top = Math.max(1.4 * (d3.max(points, (it) => it.y) || 0), own === null ? 0 : 1.4 * own, 4 * service);
    const marks = [
      { kind: "line", points: line(erlang), color: "ink-soft", dash: "6 4" },
      { kind: "line", points: line(cpu), color: "setting1" },
      { kind: "dots", points, color: "setting2", hollow: true },
      ...(own === null ? [] : [{ kind: "dots", points: [{ x: rate, y: own, note: "asked" }], color: "setting1", size: 7 }]),
    ];
    const figure = { width: Math.max(280, at("figure").clientWidth), height: 300, marks, x: { label: "Arrivals L, per s", domain: [0, far] }, y: { label: "Response time R, ms", domain: [0, top] } };
    const legend = [{ name: "as published", color: "setting1" }, { name: "M/M/m", color: "ink-soft", dash: "6 4" }, { name: "measured", color: "setting2", dot: true, hollow: true }];
    at("figure").replaceChildren(explorer_figures.legend(legend), explorer_figures.draw(figure).svg);
    const busy = (service * rate) / 1e3 / servers;
    at("answer").textContent = own === null
      ? `${words.significant(rate)} arrivals per s need ${words.significant(100 * busy)} % of the servers' time: the queue grows without end.`
      : `R is ${ms(own)} at ${words.significant(rate)} arrivals per s, where the servers are ${words.significant(100 * busy)} % busy.`
        + (faster === null ? "" : ` With 5 % less service time R is ${ms(faster)}, ${words.significant(100 * (1 - faster / own), 2)} % shorter.`);
  }

  const calculator = explorer_calculator({}, (name) => document.getElementById(`explorer-${name}`), {
    heard: (message) => message.kind === "formula" && show(message),
    restarted: () => {},
    given_up: () => {
      at("note").hidden = false;
      at("note").textContent = "The sliders cannot run in this browser; the figure above shows the curve.";
    },
  });

  for (const curve of known) at("setting").add(new Option(curve.setting, curve.setting));
  at("setting").addEventListener("change", () => {
    chosen = known.find((curve) => curve.setting === at("setting").value);
    reset();
  });
  for (const [name, middle, take] of [
    ["service", () => chosen.service_time_ms, (value) => { service = value; }],
    ["servers", () => chosen.servers, (value) => { servers = value; }],
    ["rate", () => chosen.rate_per_s, (value) => { rate = value; }],
  ]) {
    at(name).addEventListener("input", () => {
      take(scale(middle())(Number(at(name).value)));
      ask();
    });
  }
  at("reset").addEventListener("click", reset);
  window.addEventListener("resize", ask);
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    calculator.begin();
  }).observe(root);
  reset();
});
