// The ground of an image: motifs are regions of it.

import { connectedParts, tint } from "./blob";
import type { Content, Drawing } from "./content";
import { svg } from "./dom";
import type { Ground, Point } from "./ground";
import { centres, decoded, outlines } from "./regions";

const SIDE = 480; // units of the longer side, whatever the number of pixels

export function imageGround(content: Content, drawing: Extract<Drawing, { kind: "image" }>): Ground {
  const [height, width] = drawing.shape;
  const unit = SIDE / Math.max(height, width);
  const labels = decoded(drawing.runs);
  const count = content.nodes.length;
  const shapes = outlines(labels, height, width, count, unit);
  const places: Point[] = centres(labels, width, count).map((centre) =>
    centre ? { x: centre.x * unit, y: centre.y * unit } : { x: -20, y: -20 },
  );
  return {
    box: { x: -8, y: -26, width: width * unit + 16, height: height * unit + 34 },
    places,
    radius: 6,
    movable: false,
    edges: false,
    scale: 1.1,
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
    label: () => null,
    motif: (nodes, strength, side) => {
      const inside = new Set(nodes);
      const joined = outlines(labels.map((label) => (inside.has(label) ? 0 : -1)), height, width, 1, unit)[0];
      const shared = { d: joined, "fill-rule": "evenodd" };
      const parts: SVGElement[] = [
        svg("path", { ...shared, class: `region ${side}`, "fill-opacity": tint(strength, side) + 0.2 }),
      ];
      if (side === "against") parts.push(svg("path", { ...shared, fill: "url(#hatch)" }));
      parts.push(
        svg("path", { ...shared, class: "region-halo" }),
        svg("path", { ...shared, class: `region-edge ${side}`, "stroke-width": 2 + 1.5 * strength }),
      );
      const highest = (part: number[]) => part.map((node) => places[node]).reduce((a, b) => (b.y < a.y ? b : a));
      return { parts, badges: connectedParts(nodes, content.edges).map(highest) };
    },
  };
}
