// The ground of a molecule: as RDKit drew it, in the page's ink.

import { blob } from "./blob";
import type { Content, Drawing } from "./content";
import { svg } from "./dom";
import { boxOf, type Ground, pointsOf } from "./ground";

export function moleculeGround(content: Content, drawing: Drawing): Ground {
  const places = pointsOf(drawing);
  const { radius } = drawing;
  const shapes = (drawing.shapes ?? []).map(({ d, filled, width: line }) =>
    svg("path", { d, class: filled ? "filled" : "hollow", "stroke-width": line }),
  );
  return {
    box: boxOf(drawing),
    places,
    radius,
    movable: false,
    edges: false,
    scale: drawing.scale,
    below: [],
    above: [svg("g", { class: "bonds" }, ...shapes)],
    target: (node) => svg("circle", { cx: places[node].x, cy: places[node].y, r: radius, class: "clear" }),
    ring: (node, more) => svg("circle", { cx: places[node].x, cy: places[node].y, r: radius + more }),
    label: () => null,
    motif: (nodes, strength, side, lines) => blob(nodes, lines ?? content.edges, places, drawing.reach, strength, side),
  };
}
