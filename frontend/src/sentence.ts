// The ground of a sentence: its words in reading order, its tree as arcs above them.

import { connectedParts, edgesWithin, tint } from "./blob";
import type { Content, Drawing } from "./content";
import { cssValue, svg } from "./dom";
import type { Ground, Point } from "./ground";

const HEIGHT = 30;
const GAP = 8;
const PADDING = 8;
const STEP = 18; // from arc to arc above it
const BETWEEN = 34; // below a line, for badges
const LONGEST_LINE = 1000;
const WRAPPED_LINE = 760;

interface Line {
  words: number[];
  /** Height of its words, and of the arcs above them. */
  y: number;
  rise: number;
}

export function sentenceGround(content: Content, drawing: Extract<Drawing, { kind: "sentence" }>): Ground {
  const widths = measured(drawing.words).map((width) => width + 2 * PADDING);
  const lines = wrapped(widths);
  const lineOf = new Map(lines.flatMap((words, line) => words.map((word) => [word, line] as const)));
  const near = content.edges.map(([i, j]) => lineOf.get(i) === lineOf.get(j));
  const depth = levels(content.edges, near);
  const placed: Line[] = [];
  for (const [line, words] of lines.entries()) {
    const inLine = depth.filter((_, which) => near[which] && lineOf.get(content.edges[which][0]) === line);
    const rise = HEIGHT / 2 + 3 + STEP * Math.max(0, ...inLine);
    placed.push({ words, rise, y: line ? placed[line - 1].y + HEIGHT / 2 + BETWEEN + rise : 0 });
  }
  const places: Point[] = [];
  for (const { words, y } of placed) {
    let edge = 0;
    for (const word of words) {
      places[word] = { x: edge + widths[word] / 2, y };
      edge += widths[word] + GAP;
    }
  }
  const arc = (which: number) => {
    const [from, to] = content.edges[which].map((node) => places[node]).sort((a, b) => a.y - b.y || a.x - b.x);
    if (!near[which]) {
      const [start, end] = [from.y + HEIGHT / 2, to.y - HEIGHT / 2];
      const middle = (start + end) / 2;
      return `M${from.x} ${start}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${end}`;
    }
    const bend = Math.min(14, (to.x - from.x) / 2);
    const foot = from.y - HEIGHT / 2 - 1;
    const top = from.y - HEIGHT / 2 - 3 - STEP * depth[which];
    return (
      `M${from.x} ${foot}V${top + bend}Q${from.x} ${top} ${from.x + bend} ${top}` +
      `H${to.x - bend}Q${to.x} ${top} ${to.x} ${top + bend}V${foot}`
    );
  };
  const box = (node: number) => ({
    x: places[node].x - widths[node] / 2,
    y: places[node].y - HEIGHT / 2,
    width: widths[node],
    height: HEIGHT,
    rx: 6,
  });
  const number = new Map(content.edges.map(([i, j], which) => [`${i} ${j}`, which]));
  const longest = Math.max(...lines.map((words) => words.reduce((sum, word) => sum + widths[word] + GAP, -GAP)));
  const top = -placed[0].rise - 14;
  const arcs = content.edges.map((_, which) => svg("path", { d: arc(which), class: near[which] ? undefined : "far" }));
  return {
    box: { x: -20, y: top, width: longest + 40, height: placed[placed.length - 1].y + HEIGHT / 2 + 34 - top },
    places,
    radius: HEIGHT / 2,
    movable: false,
    edges: false,
    scale: 1.35,
    below: [svg("g", { class: "arcs" }, ...arcs)],
    above: [],
    target: (node) => svg("rect", { ...box(node), class: "word" }),
    label: (node) => ({ text: drawing.words[node], at: places[node], inside: true }),
    motif: (nodes, strength, side) => {
      const within = edgesWithin(nodes, content.edges).map(([i, j]) => arc(number.get(`${i} ${j}`) as number));
      const parts: SVGElement[] = [svg("path", { d: within.join(""), class: `motif-arc ${side}` })];
      for (const node of nodes) {
        parts.push(svg("rect", { ...box(node), class: `region ${side}`, "fill-opacity": tint(strength, side) + 0.05 }));
        if (side === "against") parts.push(svg("rect", { ...box(node), fill: "url(#hatch)" }));
        parts.push(svg("rect", { ...box(node), class: `region-edge ${side}`, "stroke-width": 1.5 + strength }));
      }
      const firsts = connectedParts(nodes, content.edges).map((part) => places[Math.min(...part)]);
      return { parts, badges: firsts.map(({ x, y }) => ({ x, y: y + HEIGHT / 2 + 15 })) };
    },
  };
}

/** Words in lines: one as long as it stays readable, else several as a book would set them. */
function wrapped(widths: number[]): number[][] {
  const whole = widths.reduce((sum, width) => sum + width + GAP, 0);
  if (whole <= LONGEST_LINE) return [widths.map((_, word) => word)];
  const lines: number[][] = [];
  let filled = Infinity;
  widths.forEach((width, word) => {
    if (filled + width > WRAPPED_LINE) {
      lines.push([]);
      filled = 0;
    }
    lines[lines.length - 1].push(word);
    filled += width + GAP;
  });
  return lines;
}

/** Widths of words as they will be drawn. */
function measured(words: string[]): number[] {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return words.map((word) => 8 * word.length);
  context.font = `15px ${cssValue("--sans")}`;
  return words.map((word) => Math.max(10, context.measureText(word).width));
}

/** A height for each arc, so that arcs over others lie above them: 1 for the lowest. Far ones are not arcs. */
function levels(edges: [number, number][], near: boolean[]): number[] {
  const heights = new Array<number>(edges.length).fill(1);
  const arcs = edges.map((_, which) => which).filter((which) => near[which]);
  const shortFirst = arcs.sort((a, b) => edges[a][1] - edges[a][0] - (edges[b][1] - edges[b][0]));
  for (const [rank, which] of shortFirst.entries()) {
    const [from, to] = edges[which];
    for (const other of shortFirst.slice(0, rank)) {
      const overlap = edges[other][0] < to && edges[other][1] > from;
      if (overlap) heights[which] = Math.max(heights[which], heights[other] + 1);
    }
  }
  return heights;
}
