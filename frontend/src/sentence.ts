// The ground of a sentence: its words in reading order, its tree as arcs above them, as Python set them.

import { connectedParts, edgesWithin, tint } from "./blob";
import type { Content, Drawing } from "./content";
import { svg } from "./dom";
import { boxOf, type Ground, pointsOf } from "./ground";

export function sentenceGround(content: Content, drawing: Drawing): Ground {
  const places = pointsOf(drawing);
  const { widths = [], arcs = [], height = 30 } = drawing;
  const box = (node: number, more = 0) => ({
    x: places[node].x - widths[node] / 2 - more,
    y: places[node].y - height / 2 - more,
    width: widths[node] + 2 * more,
    height: height + 2 * more,
    rx: 6,
  });
  const number = new Map(content.edges.map(([i, j], which) => [`${i} ${j}`, which]));
  return {
    box: boxOf(drawing),
    places,
    radius: drawing.radius,
    movable: false,
    edges: false,
    scale: drawing.scale,
    below: [svg("g", { class: "arcs" }, ...arcs.map((d) => svg("path", { d })))],
    above: [],
    target: (node) => svg("rect", { ...box(node), class: "word" }),
    ring: (node, more) => svg("rect", box(node, more - 2)),
    label: (node) => ({ text: drawing.labels[node]?.[0] ?? "", at: places[node], inside: true }),
    motif: (nodes, strength, side) => {
      const within = edgesWithin(nodes, content.edges).map(([i, j]) => arcs[number.get(`${i} ${j}`) as number]);
      const parts: SVGElement[] = [svg("path", { d: within.join(""), class: `motif-arc ${side}` })];
      for (const node of nodes) {
        parts.push(svg("rect", { ...box(node), class: `region ${side}`, "fill-opacity": tint(strength, side) + 0.05 }));
        if (side === "against") parts.push(svg("rect", { ...box(node), fill: "url(#hatch)" }));
        parts.push(svg("rect", { ...box(node), class: `region-edge ${side}`, "stroke-width": 1.5 + strength }));
      }
      const firsts = connectedParts(nodes, content.edges).map((part) => places[Math.min(...part)]);
      return { parts, badges: firsts.map(({ x, y }) => ({ x, y: y + height / 2 + 15 })) };
    },
  };
}
