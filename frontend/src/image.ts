// The ground of an image: motifs are regions of it. What is in no motif is paled, so that motifs keep their pixels.

import { connectedParts } from "./blob";
import type { Content, Drawing } from "./content";
import { svg } from "./dom";
import { boxOf, type Ground, pointsOf } from "./ground";
import { decoded, outlines } from "./regions";

const SIDE = 480; // units of the longer side, whatever the number of pixels

export function imageGround(content: Content, drawing: Drawing): Ground {
  const [height, width] = drawing.shape ?? [1, 1];
  const unit = SIDE / Math.max(height, width);
  const labels = decoded(drawing.runs ?? []);
  const shapes = outlines(labels, height, width, content.nodes.length, unit);
  const places = pointsOf(drawing);
  const outlineOf = (inside: (label: number) => boolean) =>
    outlines(labels.map((label) => (inside(label) ? 0 : -1)), height, width, 1, unit)[0];
  return {
    box: boxOf(drawing),
    places,
    radius: drawing.radius,
    movable: false,
    edges: false,
    scale: drawing.scale,
    below: [
      svg("image", {
        href: drawing.source,
        width: width * unit,
        height: height * unit,
        preserveAspectRatio: "none",
        class: unit > 3 ? "pixels" : undefined,
      }),
    ],
    above: [],
    target: (node) => svg("path", { d: shapes[node], class: "piece" }),
    ring: (node) => svg("path", { d: shapes[node] }),
    label: () => null,
    veil: (nodes) => {
      const inside = new Set(nodes);
      return svg("path", { d: outlineOf((label) => !inside.has(label)), class: "veil", "fill-rule": "evenodd" });
    },
    motif: (nodes, strength, side) => {
      const inside = new Set(nodes);
      const shared = { d: outlineOf((label) => inside.has(label)), "fill-rule": "evenodd" };
      const parts: SVGElement[] = [svg("path", { ...shared, class: `region ${side}`, "fill-opacity": 0.12 })];
      if (side === "against") parts.push(svg("path", { ...shared, fill: "url(#hatch)", "fill-opacity": 0.5 }));
      parts.push(
        svg("path", { ...shared, class: "region-halo" }),
        svg("path", { ...shared, class: `region-edge ${side}`, "stroke-width": 2 + 1.5 * strength }),
      );
      const highest = (part: number[]) => part.map((node) => places[node]).reduce((a, b) => (b.y < a.y ? b : a));
      return { parts, badges: connectedParts(nodes, content.edges).map(highest) };
    },
  };
}
