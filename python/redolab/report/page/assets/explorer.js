"use strict";
// The explorer: a change of the setting is sent to the worker, and the worker's answer is shown.
page_parts.libraries.then(() => {
  const root = document.getElementById("explorer");
  if (!root) return;
  const meta = JSON.parse(document.getElementById("explorer-data").textContent);
  const at = (name) => document.getElementById(`explorer-${name}`);
  const setting = explorer_setting(meta, at);
  const sentences = explorer_sentences(meta, setting);
  const panels = explorer_panels(meta, at, setting, sentences);
  const REST_MS = 300, DIM_MS = 200;
  const STAGES = { rough: "Rough: 2,000 commits simulated.", computing: "Computing the interval.", settled: "Settled.", refused: "" };
  const most_sessions = Math.max(meta.today.sessions, d3.max(meta.measured, (one) => one.levels.sessions) || 1);

  // Results so far for the setting asked about, and for today's.
  const state = { stage: "", settled: false, outlook: null, said: null, elbow: null, refused: "", curve: null, today_curve: null, today: null, before: null, logarithmic: false };
  let drawn = null, frame = 0, rest = 0, dim = 0;

  function note(name, text) {
    const place = at(`note-${name}`);
    place.textContent = text;
    place.hidden = !text;
  }

  function show() {
    drawn = panels.draw(state);
    root.toggleAttribute("data-settled", state.settled);
    at("state").textContent = STAGES[state.stage] || "";
    at("elbow").disabled = !state.elbow || setting.is_open();
    note("lost", sentences.lost(state));
    note("less", sentences.less(state));
    const cautions = sentences.cautions(state);
    at("cautions").hidden = !cautions.length;
    at("cautions").querySelector("ul").replaceChildren(...cautions.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    const answer = sentences.answer(state);
    at("answer").textContent = answer;
    clearTimeout(rest);
    rest = setTimeout(() => { at("spoken").textContent = answer; }, REST_MS);
  }

  function draw() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(show);
  }

  function heard(message) {
    clearTimeout(dim);
    root.classList.remove("waiting");
    switch (message.kind) {
      case "point":
        Object.assign(state, { outlook: message.outlook, refused: "", stage: message.rough ? "rough" : "computing" });
        if (!setting.is_open()) setting.know_capacity(message.outlook.values.throughput_per_s);
        break;
      case "curve":
        Object.assign(state, { curve: message.curve, today_curve: message.today });
        if (message.curve.capacity) setting.know_capacity(message.curve.capacity);
        break;
      case "today":
        state.today = message.today;
        break;
      case "said":
        state.said = message.said;
        break;
      case "elbow":
        state.elbow = message.elbow;
        break;
      case "refused":
        Object.assign(state, { outlook: null, said: null, refused: message.text, stage: "refused" });
        break;
      case "settled":
        state.stage = state.refused ? "refused" : "settled";
        state.settled = true;
        break;
      default:
    }
    setting.show();
    draw();
  }

  const calculator = explorer_calculator(meta, at, {
    heard: (message) => {
      root.classList.add("live");
      heard(message);
    },
    restarted: () => note("state", "The calculation did not answer for two seconds and was restarted."),
    given_up: () => {
      root.classList.remove("live");
      note("state", "The explorer cannot run here. Figure and table show the forecasts of the time when this page was made.");
    },
  });

  function ask() {
    Object.assign(state, { said: null, elbow: null, settled: false });
    clearTimeout(dim);
    dim = setTimeout(() => root.classList.add("waiting"), DIM_MS);
    calculator.ask({ levels: { ...setting.levels }, most_sessions });
  }

  setting.listen((why) => {
    note("why", why);
    state.before = null;
    setting.show();
    if (!why) ask();
  });

  for (const button of root.querySelectorAll("[data-preset]")) {
    button.addEventListener("click", () => {
      const { outlook, elbow, stage } = state;
      if (button.dataset.preset === "elbow") return elbow && setting.set("sessions", elbow.sessions);
      setting.presets[button.dataset.preset]();
      // Only settled results are compared.
      if (button.dataset.preset === "less" && outlook && stage !== "rough") state.before = outlook.values.response_time_ms;
      return undefined;
    });
  }

  at("one").addEventListener("change", () => { root.dataset.one = at("one").value; });
  at("log").addEventListener("change", () => {
    state.logarithmic = at("log").checked;
    draw();
  });

  // The asked point follows the pointer along its curve.
  at("curve").addEventListener("pointerdown", (event) => {
    if (event.target.id !== "explorer-own" || !state.curve) return;
    event.preventDefault();
    const host = at("curve");
    host.setPointerCapture(event.pointerId);
    const move = (moved) => {
      const box = drawn.svg.getBoundingClientRect();
      const [x, y] = [moved.clientX - box.left, moved.clientY - box.top];
      const { factor, points } = state.curve;
      const nearest = d3.least(points.filter((point) => point.values), (point) =>
        Math.hypot(drawn.x(point.values.throughput_per_s) - x, drawn.y(point.values.response_time_ms) - y));
      const level = factor === "sessions" ? nearest.level : Number(nearest.level.toPrecision(3));
      if (level !== setting.levels[factor]) setting.set(factor, level);
    };
    const end = () => {
      host.removeEventListener("pointermove", move);
      for (const kind of ["pointerup", "pointercancel"]) host.removeEventListener(kind, end);
    };
    host.addEventListener("pointermove", move);
    for (const kind of ["pointerup", "pointercancel"]) host.addEventListener(kind, end);
  });

  const told = () => ({ levels: setting.levels, family: state.outlook?.family ?? null, forecast: state.said?.quantities ?? null, elbow: state.elbow });
  // Without a clipboard the whole link is selected, to be copied by hand.
  const copied = async (text) => navigator.clipboard.writeText(text);
  const saves = {
    link: () => copied(at("link").value).catch(() => getSelection().selectAllChildren(at("link"))),
    svg: () => drawn && page_parts.offer("explorer.svg", new XMLSerializer().serializeToString(drawn.svg), "image/svg+xml"),
    csv: () => page_parts.offer("explorer.csv", page_parts.csv(at("figures")), "text/csv"),
    json: () => page_parts.offer("explorer.json", JSON.stringify(told(), null, 1), "application/json"),
  };
  for (const button of root.querySelectorAll("[data-save]")) button.addEventListener("click", () => saves[button.dataset.save]());

  function follow_link() {
    const wrong = setting.read_link();
    note("link", wrong?.length ? `The link asks for values that cannot be shown: ${wrong.join("; ")}.` : "");
    setting.show();
    ask();
  }
  // Paper is light.
  window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("on-paper");
    if (root.classList.contains("live")) show();
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("on-paper");
    again();
  });
  const again = () => root.classList.contains("live") && draw();
  window.addEventListener("hashchange", () => setting.is_link() && follow_link());
  window.addEventListener("resize", again);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);

  follow_link();
  // Nothing is computed before the explorer is seen.
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    calculator.begin();
  }).observe(root);
});
