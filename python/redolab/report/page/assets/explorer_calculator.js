"use strict";
// The worker: started from the page's own text, asked, watched, and restarted where it is silent.
const explorer_calculator = (meta, at, { heard, restarted, given_up }) => {
  const SILENT_MS = 2000;
  const TRIES = 3;
  let worker = null, payload = null, asked = 0, outstanding = false, silence = null, failures = 0, last = null;

  const unpacked = (name) => page_parts.unpacked(at(name).id);

  async function begin() {
    const url = URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" }));
    const started = new Worker(url);
    worker = started;
    outstanding = true;
    payload ??= Promise.all([unpacked("wasm"), at("costs") && unpacked("costs")]);
    const [wasm, costs] = await payload;
    if (worker !== started) return;
    worker.onmessage = ({ data }) => hear(data);
    worker.onerror = (event) => {
      event.preventDefault();
      fail();
    };
    worker.postMessage({ what: "start", wasm, costs, factors: meta.factors, quantities: meta.quantities, today: meta.today });
    URL.revokeObjectURL(url);
    watch();
  }

  function watch() {
    clearTimeout(silence);
    if (outstanding) silence = setTimeout(fail, SILENT_MS);
  }

  // Silent or broken: start a new one, a few times; then the page stays as it was without it.
  function fail() {
    clearTimeout(silence);
    worker?.terminate();
    worker = null;
    failures += 1;
    if (failures >= TRIES) {
      outstanding = false;
      given_up();
      return;
    }
    restarted();
    begin().catch(fail);
  }

  function hear(message) {
    if (message.kind === "failed") {
      fail();
      return;
    }
    if (message.kind === "ready") {
      outstanding = false;
      if (last) ask(last);
    } else if (message.id === asked) {
      if (message.kind === "settled") {
        outstanding = false;
        failures = 0;
      }
      heard(message);
    }
    watch();
  }

  // Only the latest question is answered.
  function ask(question) {
    last = question;
    if (!worker) return;
    asked += 1;
    outstanding = true;
    worker.postMessage({ what: "ask", ...question, id: asked });
    watch();
  }

  return { begin: () => begin().catch(fail), ask };
};
