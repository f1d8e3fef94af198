// The ground of a molecule: as RDKit drew it, in the page's ink.

import { blob } from "./blob";
import type { Content, Drawing } from "./content";
import { svg } from "./dom";
import type { Ground } from "./ground";

const RADIUS = 13;

export function moleculeGround(content: Content, drawing: Extract<Drawing, { kind: "molecule" }>): Ground {
  const places = drawing.places.map(([x, y]) => ({ x, y }));
  const [width, height] = drawing.size;
  return {
    box: { x: -24, y: -34, width: width + 48, height: height + 58 },
    places,
    radius: RADIUS,
    movable: false,
    edges: false,
    scale: 1.6,
    below: [],
    above: [
      svg(
        "g",
        { class: "bonds" },
        ...drawing.shapes.map(({ d, filled, width: line }) =>
          svg("path", { d, class: filled ? "filled" : "hollow", "stroke-width": line }),
        ),
      ),
    ],
    target: (node) => svg("circle", { cx: places[node].x, cy: places[node].y, r: RADIUS, class: "clear" }),
    label: () => null,
    motif: (nodes, strength, side) => blob(nodes, content.edges, places, 15, strength, side),
  };
}
