"use strict";
// The explorer's figures: curves with a band, points and marks, drawn anew at every answer.
const explorer_figures = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { top: 26, right: 14, bottom: 40, left: 58 };

  function colours() {
    const style = getComputedStyle(document.documentElement);
    return (name) => style.getPropertyValue(`--fig-${name}`).trim();
  }

  function add(parent, name, attributes, text) {
    const made = parent.appendChild(document.createElementNS(SVG, name));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function scale(domain, range, logarithmic) {
    return logarithmic ? d3.scaleLog(domain, range) : d3.scaleLinear(domain, range);
  }

  const decades = (ticks) => (ticks.length > 8 ? ticks.filter((at) => Number.isInteger(Math.log10(at) + 1e-12) || /^[25]/.test(at.toExponential())) : ticks);

  function ticks(axis, room, logarithmic) {
    const format = d3.format(",.6~f");
    const found = logarithmic ? decades(axis.ticks(room)) : axis.ticks(room);
    return found.map((at) => [at, format(at)]);
  }

  // `figure`: width, height, x and y with label, domain and log, and marks in their order.
  function draw(figure) {
    const css = colours();
    const { width, height } = figure;
    const x = scale(figure.x.domain, [MARGIN.left, width - MARGIN.right], figure.x.log);
    const y = scale(figure.y.domain, [height - MARGIN.bottom, MARGIN.top], figure.y.log);
    const svg = document.createElementNS(SVG, "svg");
    for (const [key, value] of Object.entries({ xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": true,
      "font-size": 13, "font-family": getComputedStyle(document.body).fontFamily, class: "drawn" })) svg.setAttribute(key, value);
    const clip = `clip${Math.random().toString(36).slice(2)}`;
    add(add(add(svg, "defs", {}), "clipPath", { id: clip }), "rect", { x: MARGIN.left, y: MARGIN.top - 6,
      width: Math.max(0, width - MARGIN.left - MARGIN.right + 8), height: height - MARGIN.top - MARGIN.bottom + 6 });
    const foot = height - MARGIN.bottom;
    for (const [at, text] of ticks(y, height / 60, figure.y.log)) {
      add(svg, "line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(at), y2: y(at), stroke: css("grid") });
      add(svg, "text", { x: MARGIN.left - 8, y: y(at), dy: "0.32em", "text-anchor": "end", fill: css("ink") }, text);
    }
    for (const [at, text] of ticks(x, width / 110, figure.x.log)) {
      add(svg, "line", { x1: x(at), x2: x(at), y1: foot, y2: foot + 4, stroke: css("axis") });
      add(svg, "text", { x: x(at), y: foot + 18, "text-anchor": "middle", fill: css("ink") }, text);
    }
    add(svg, "line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: foot, y2: foot, stroke: css("axis") });
    add(svg, "text", { x: width - MARGIN.right, y: foot + 35, "text-anchor": "end", fill: css("ink") }, figure.x.label);
    add(svg, "text", { x: 4, y: 13, fill: css("ink") }, figure.y.label);
    const body = add(svg, "g", { "clip-path": `url(#${clip})` });
    const inside = (point) => point.x !== null && point.y !== null && (!figure.x.log || point.x > 0) && (!figure.y.log || point.y > 0);
    for (const mark of figure.marks) {
      const points = (mark.points || []).filter(inside);
      if (mark.kind === "line" && points.length) {
        const path = d3.line((it) => x(it.x), (it) => y(it.y))(points);
        add(body, "path", { d: path, fill: "none", stroke: css(mark.color), "stroke-width": mark.width || 2,
          ...(mark.dash ? { "stroke-dasharray": mark.dash } : {}), ...(mark.faint ? { "stroke-opacity": 0.45 } : {}) });
      } else if (mark.kind === "band" && mark.points.length) {
        const path = d3.area((it) => x(it.x), (it) => y(it.low), (it) => y(it.high))(mark.points.filter((it) => !figure.y.log || it.low > 0));
        add(body, "path", { d: path, fill: css(`${mark.color}-faint`) });
      } else if (mark.kind === "dots") {
        for (const it of points) {
          const dot = add(svg, "circle", { cx: x(it.x), cy: y(it.y), r: mark.size || 4.5, fill: mark.hollow ? css("paper") : css(mark.color),
            stroke: mark.hollow ? css(mark.color) : css("paper"), "stroke-width": mark.hollow ? 1.8 : 1 });
          if (it.note) add(dot, "title", {}, it.note);
          if (mark.id) dot.id = mark.id;
        }
      } else if (mark.kind === "arrow" && points.length === 2) {
        const [from, to] = points.map((it) => [x(it.x), y(it.y)]);
        const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
        if (length > 24) {
          const turn = (Math.atan2(to[1] - from[1], to[0] - from[0]) * 180) / Math.PI;
          add(body, "line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: css("ink-soft"), "stroke-dasharray": "2 3" });
          add(body, "path", { d: "M-16,-4 L-7,0 L-16,4 Z", fill: css("ink-soft"), transform: `translate(${to[0]},${to[1]}) rotate(${turn})` });
        }
      } else if (mark.kind === "wall") {
        add(body, "line", { x1: x(mark.x), x2: x(mark.x), y1: MARGIN.top, y2: foot, stroke: css("bad"), "stroke-width": 1.6 });
        add(svg, "text", { x: x(mark.x) - 5, y: MARGIN.top + 8, "text-anchor": "end", fill: css("bad"), "font-size": 12 }, mark.text);
      } else if (mark.kind === "tick") {
        add(body, "line", { x1: x(mark.x), x2: x(mark.x), y1: y(mark.y) - 9, y2: y(mark.y) + 9, stroke: css("ink"), "stroke-width": 2 });
        add(svg, "text", { x: x(mark.x) - 6, y: y(mark.y) - 12, "text-anchor": "end", fill: css("ink"), "font-size": 12 }, mark.text);
      }
    }
    return { svg, x, y };
  }

  function swatch(entry) {
    const css = colours();
    const svg = document.createElementNS(SVG, "svg");
    for (const [key, value] of Object.entries({ width: 26, height: 14, "aria-hidden": true })) svg.setAttribute(key, value);
    if (entry.dot) {
      add(svg, "circle", { cx: 13, cy: 7, r: 4.5, fill: entry.hollow ? css("paper") : css(entry.color), stroke: css(entry.color), "stroke-width": 1.8 });
    } else {
      add(svg, "line", { x2: 26, y1: 7, y2: 7, stroke: css(entry.color), "stroke-width": entry.width || 2, ...(entry.dash ? { "stroke-dasharray": entry.dash } : {}) });
    }
    return svg;
  }

  function legend(entries) {
    const list = document.createElement("ul");
    list.className = "legend";
    for (const entry of entries) list.appendChild(document.createElement("li")).append(swatch(entry), entry.name);
    return list;
  }

  return { draw, legend };
})();
