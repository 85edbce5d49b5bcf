"use strict";
page_parts.libraries.then(() => page_parts.text("packed-figures")).then((packed) => {
  const data = JSON.parse(packed);
  const places = [...document.querySelectorAll("[data-figure]")];
  const root = document.documentElement;
  const paperWidth = 660;

  function draw(place, width) {
    const figure = data[place.dataset.figure];
    place.replaceChildren(figures.legend(figure), figures.draw(figure, width || place.clientWidth || 320));
  }

  function drawAll(width) {
    for (const place of places) draw(place, width);
  }

  // One after the other when the browser is idle: the page can be read and scrolled meanwhile.
  const idle = window.requestIdleCallback || ((then) => setTimeout(then, 0));
  function drawNext(rest) {
    if (!rest.length) {
      root.classList.add("drawn");
      return;
    }
    draw(rest[0]);
    idle(() => drawNext(rest.slice(1)));
  }

  // The arrow keys go from point to point and show each one's figures.
  function readable(place) {
    const points = figures.points(data[place.dataset.figure]);
    const readout = place.parentElement.querySelector("output");
    let at = -1;
    place.tabIndex = 0;
    place.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step || !points.length) return;
      event.preventDefault();
      at = Math.min(Math.max(at + step, 0), points.length - 1);
      readout.textContent = `${at + 1} of ${points.length}: ${points[at].note}`;
    });
  }

  // The next table of the page holds the figure's numbers.
  function numbersOf(figure) {
    let at = figure.nextElementSibling;
    while (at && !at.querySelector("table")) at = at.nextElementSibling;
    return at ? page_parts.csv(at.querySelector("table")) : "";
  }

  function savable(place) {
    const name = place.dataset.figure;
    const row = document.createElement("p");
    row.className = "save";
    const button = (title, save) => {
      const made = row.appendChild(document.createElement("button"));
      made.type = "button";
      made.textContent = title;
      made.setAttribute("aria-label", `Save the figure ${name} as ${title}`);
      made.addEventListener("click", save);
    };
    button("SVG", () => page_parts.offer(`${name}.svg`,
      new XMLSerializer().serializeToString(place.querySelector("svg.drawn")), "image/svg+xml"));
    const table = numbersOf(place.parentElement);
    if (table) button("CSV", () => page_parts.offer(`${name}.csv`, table, "text/csv"));
    place.after(row);
  }

  // Groups of columns are shown as they are picked; without scripts all of them are.
  function pick(box) {
    const table = document.getElementById(box.closest("[data-picks]").dataset.picks);
    for (const row of table.rows) {
      for (const place of box.dataset.columns.split(" ")) row.cells[Number(place)].hidden = !box.checked;
    }
  }
  for (const box of document.querySelectorAll("[data-columns]")) {
    pick(box);
    box.addEventListener("change", () => pick(box));
  }

  places.forEach(savable);
  places.forEach(readable);
  drawNext(places);

  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll());
  let width = root.clientWidth;
  window.addEventListener("resize", () => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    drawAll();
  });

  // Paper: light colours at the width of the page; of the closed parts only the environment opens.
  const opened = [];
  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details.paper:not([open])")) {
      part.open = true;
      opened.push(part);
    }
    root.classList.add("on-paper");
    drawAll(paperWidth);
  });
  window.addEventListener("afterprint", () => {
    for (const part of opened.splice(0)) part.open = false;
    root.classList.remove("on-paper");
    drawAll();
  });
}).catch((error) => {
  // A browser that cannot unpack: the numbers of every figure are in the table below it.
  for (const place of document.querySelectorAll("[data-figure]")) {
    place.textContent = `This figure cannot be drawn here (${error.message}); its numbers follow as a table.`;
  }
});
