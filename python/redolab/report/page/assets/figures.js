"use strict";
// Draws a figure of `drawing.py` with Observable Plot, in the colours of the style sheet.
const figures = (() => {
  const dashes = { dash: "7 4", dot: "2 4", dashdot: "8 3 2 3", longdash: "12 5", longdashdot: "12 4 2 4" };
  const letter = 6.6;
  // Bold letters are wider.
  const BOLD = 1.25;

  function colours() {
    const style = getComputedStyle(document.documentElement);
    return (name) => style.getPropertyValue(`--fig-${name}`).trim();
  }

  function ticksOf(axis, room) {
    if (axis.ticks) return axis.ticks;
    const [low, high] = d3.extent(axis.domain);
    const format = d3.format(",.6~f");
    const from = "from" in axis ? axis.from : low;
    return d3.ticks(low, high, Math.max(2, Math.round(room)))
      .filter((at) => at >= from)
      .map((at) => [at, format(at)]);
  }

  // Every other name is left out where names would overlap.
  function thinned(ticks, width) {
    const widest = Math.max(0, ...ticks.map(([, text]) => text.length)) * letter + 8;
    const step = Math.ceil((ticks.length * widest) / width);
    return step > 1 ? ticks.filter((_, place) => place % step === 0) : ticks;
  }

  // Bars differ in pattern too: a tile with lines of the paper's colour.
  function patterned(defs, colour, pattern, paper) {
    if (!pattern) return colour;
    const tile = defs.append("pattern")
      .attr("id", `p${Math.random().toString(36).slice(2)}`)
      .attr("patternUnits", "userSpaceOnUse").attr("width", 8).attr("height", 8);
    tile.append("rect").attr("width", 8).attr("height", 8).attr("fill", colour);
    const paths = { "/": "M0,8 8,0", "\\": "M0,0 8,8", x: "M0,8 8,0M0,0 8,8", "-": "M0,4 8,4", "|": "M4,0 4,8",
      "+": "M0,4 8,4M4,0 4,8", ".": "M3,4 5,4" };
    tile.append("path").attr("d", paths[pattern]).attr("stroke", paper)
      .attr("stroke-width", pattern === "." ? 2 : 1.2).attr("stroke-opacity", 0.6);
    return `url(#${tile.attr("id")})`;
  }

  const pairs = (mark) => mark.x.map((x, place) => ({ x, y: mark.y[place], note: (mark.notes || [])[place] }));
  const known = (it) => it.x !== null && it.y !== null;

  function markOf(mark, css, fill, width) {
    const colour = mark.color && css(mark.color);
    switch (mark.kind) {
      case "line":
        return [Plot.line(pairs(mark), { x: "x", y: (it) => it.y ?? NaN, stroke: colour, strokeWidth: mark.width,
          strokeDasharray: dashes[mark.dash], clip: true })];
      case "area":
        return [Plot.areaY(pairs(mark), { x: "x", y1: mark.base, y2: (it) => it.y ?? NaN, fill: colour, clip: true })];
      case "dots":
        return [Plot.dot(pairs(mark).filter(known), { x: "x", y: "y", r: mark.size, symbol: mark.symbol, clip: false,
          ...(mark.hollow || mark.symbol === "times" ? { stroke: colour, strokeWidth: 1.8 } : { fill: colour, stroke: css("paper"), strokeWidth: 0.8 }) })];
      case "bars":
        return [Plot.rect(pairs(mark).filter(known), { x1: (it) => it.x - mark.width / 2, x2: (it) => it.x + mark.width / 2,
          y1: 0, y2: "y", fill: fill(mark), stroke: css("paper"), strokeWidth: 0.6 })];
      case "upright":
        return [Plot.ruleX(mark.x.map((x, n) => ({ x, low: mark.low[n], high: mark.high[n] }))
          .filter((it) => it.x !== null && it.low !== null && it.high !== null),
        { x: "x", y1: "low", y2: "high", stroke: colour, strokeWidth: 1.6 })];
      case "level":
        return [Plot.ruleY(mark.y.map((y, n) => ({ y, low: mark.low[n], high: mark.high[n] })),
          { y: "y", x1: "low", x2: "high", stroke: colour, strokeWidth: 2.4 })];
      case "band":
        return [Plot.rect([mark], { x1: "from", x2: "to", fill: css("band") })];
      case "rule":
        return [Plot.ruleX([mark.x], { stroke: css("ink-soft"), strokeWidth: 1.4 })];
      case "label":
        return [Plot.text([mark], { frameAnchor: "left", y: "y", dy: -18, textAnchor: "start", fontSize: 13,
          text: (it) => fitting(it, width), fontWeight: 600, fill: css("ink"), stroke: css("paper"), strokeWidth: 5 })];
      default:
        throw new Error(`no mark of the kind ${mark.kind}`);
    }
  }

  // A label with its figure; without the interval, or without the figure, where it would be cut off.
  function fitting({ name, text }, width) {
    const forms = [`${name}  ${text}`, `${name}  ${text.split(" (")[0]}`];
    return forms.find((form) => form.length * letter * BOLD <= width) ?? name;
  }

  // Points that can be pointed at: with the mouse, a finger or the arrow keys.
  function points(figure) {
    return figure.marks.filter((mark) => mark.notes).flatMap((mark) => pairs(mark).filter(known));
  }

  function draw(figure, width) {
    const css = colours();
    const down = figure.y;
    const ticksUp = down.bare ? [] : ticksOf(down, figure.height / 60);
    const widest = Math.max(0, ...ticksUp.map(([, text]) => text.length));
    const left = down.bare ? 4 : Math.max(figure.left || 0, Math.min(0.4 * width, 14 + widest * letter));
    const ticksAcross = thinned(ticksOf(figure.x, (width - left) / 90), width - left);
    const host = d3.create("svg");
    const defs = host.append("defs");
    const fill = (mark) => patterned(defs, css(mark.color), mark.pattern, css("paper"));
    const words = (ticks) => new Map(ticks);
    const axis = (make, ticks, grid) => [
      ...(grid ? [make.grid({ ticks: ticks.map(([at]) => at), stroke: css("grid"), strokeOpacity: 1 })] : []),
      make.axis({ ticks: ticks.map(([at]) => at), tickFormat: (at) => words(ticks).get(at) ?? "", tickSize: 4,
        label: make.label || null, labelArrow: "none", lineWidth: make.lineWidth, color: css("ink"), fill: css("ink"), stroke: css("axis") }),
    ];
    const x = { grid: Plot.gridX, axis: Plot.axisX, label: figure.x.label };
    const y = { grid: Plot.gridY, axis: Plot.axisY, label: down.label, lineWidth: down.words && (left - 18) / 13 };
    const svg = Plot.plot({
      width, height: figure.height, marginLeft: left, marginRight: 14, marginTop: down.label ? 26 : 10, marginBottom: figure.x.label ? 40 : 22,
      style: { fontSize: "13px", fontFamily: getComputedStyle(document.body).fontFamily, background: "none",
        color: css("ink"), overflow: "visible" },
      x: { type: figure.x.log ? "log" : "linear", domain: figure.x.domain, axis: null },
      y: { type: down.log ? "log" : "linear", domain: down.domain, axis: null },
      marks: [
        ...axis(x, ticksAcross, !figure.x.words),
        ...(down.bare ? [] : axis(y, ticksUp, true)),
        ...figure.marks.flatMap((mark) => markOf(mark, css, fill, width)),
        Plot.tip(points(figure), Plot.pointer({ x: "x", y: "y", title: "note", fill: css("paper"), stroke: css("axis"),
          maxRadius: 30, lineWidth: 24 })),
      ],
    });
    svg.insertBefore(defs.node(), svg.firstChild);
    svg.setAttribute("aria-hidden", "true");
    svg.classList.add("drawn");
    return svg;
  }

  function swatch(entry, css) {
    const colour = css(entry.color);
    const svg = d3.create("svg").attr("width", 26).attr("height", 14).attr("aria-hidden", "true");
    const fill = patterned(svg.append("defs"), colour, entry.shown === "bar" ? entry.pattern : "", css("paper"));
    if (entry.shown === "bar") svg.append("rect").attr("x", 4).attr("y", 1).attr("width", 18).attr("height", 12).attr("fill", fill);
    if (entry.shown === "line" || entry.shown === "both") {
      svg.append("line").attr("x2", 26).attr("y1", 7).attr("y2", 7).attr("stroke", colour).attr("stroke-width", 2)
        .attr("stroke-dasharray", dashes[entry.dash] || null);
    }
    if (entry.shown === "dot" || entry.shown === "both") {
      const symbols = { circle: d3.symbolCircle, square: d3.symbolSquare, diamond: d3.symbolDiamond, triangle: d3.symbolTriangle,
        cross: d3.symbolCross, times: d3.symbolTimes, star: d3.symbolStar, hexagon: d3.symbolSquare2 };
      svg.append("path").attr("transform", "translate(13,7)").attr("d", d3.symbol(symbols[entry.symbol], 56)())
        .attr("fill", entry.hollow || entry.symbol === "times" ? "none" : colour).attr("stroke", colour).attr("stroke-width", 1.6);
    }
    return svg.node();
  }

  function legend(figure) {
    const css = colours();
    const list = document.createElement("ul");
    list.className = "legend";
    for (const entry of figure.legend) {
      const item = list.appendChild(document.createElement("li"));
      item.append(swatch(entry, css), entry.name);
    }
    return list;
  }

  return { draw, legend, points };
})();
