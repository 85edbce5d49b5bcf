"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figure-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = window.matchMedia("(max-width: 40rem)");
  const config = {
    displaylogo: false,
    responsive: true,
    showLink: false,
    showEditInChartStudio: false,
    plotlyServerURL: "",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "zoom2d", "pan2d", "autoScale2d"],
  };

  // Figures name their colours ($cpu); the style sheet holds them, for light, dark and print.
  function coloured(value, style, key) {
    if (Array.isArray(value)) return value.map((item) => coloured(item, style, key));
    if (value && typeof value === "object") {
      return Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, coloured(item, style, name)]));
    }
    if (typeof value === "string" && key.endsWith("color") && value.startsWith("$")) {
      return style.getPropertyValue("--fig-" + value.slice(1)).trim();
    }
    return value;
  }

  function draw(width) {
    const style = getComputedStyle(document.documentElement);
    const font = style.getPropertyValue("--sans").trim();
    for (const place of document.querySelectorAll("[data-figure]")) {
      const figure = coloured(figures[place.dataset.figure], style, "");
      figure.layout.font.family = font;
      if (narrow.matches && !width) {
        figure.layout.font.size = 12;
        figure.layout.legend.font.size = 12;
      }
      if (width) {
        figure.layout.width = width;
        // Labels that stand between bars need their room.
        if (!figure.layout.annotations) figure.layout.height *= 0.82;
      }
      Plotly.react(place, figure.data, figure.layout, config);
    }
  }

  draw();
  dark.addEventListener("change", () => draw());
  narrow.addEventListener("change", () => draw());

  // Paper: light colours at the width of the page; of the closed parts only the environment opens.
  const root = document.documentElement;
  const opened = [];
  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details.paper:not([open])")) {
      part.open = true;
      opened.push(part);
    }
    root.classList.add("on-paper");
    draw(660);
  });
  window.addEventListener("afterprint", () => {
    for (const part of opened.splice(0)) part.open = false;
    root.classList.remove("on-paper");
    draw();
  });
})();
