// The ground of a general graph: circles and lines, where Python placed them.

import { blob } from "./blob";
import type { Content, Drawing } from "./content";
import { svg } from "./dom";
import { boundingBox, type Ground, joined, pointsOf } from "./ground";

const MARGIN = 46;
const WIDEST_LETTER = 3.3; // half of the width of a letter, with some room
const LETTER = 2.4; // half of the width of a letter of a name

export function graphGround(content: Content, drawing: Drawing): Ground {
  const places = pointsOf(drawing);
  const { radius } = drawing;
  /** Points that names cover, for what must not lie on them; of many nodes, only names in the motif are sure to be written. */
  const names = (nodes: number[]) =>
    drawing.labels.flatMap((label, node) => {
      if (!label || label[3] || (drawing.crowded && !nodes.includes(node))) return [];
      const [text, x, y] = label;
      const half = LETTER * text.length;
      return [-half, 0, half].map((shift) => ({ x: places[node].x + x + shift, y: places[node].y + y }));
    });
  /** Names beside nodes must be seen as a whole. */
  const labelBoxes = () =>
    drawing.labels.flatMap((label, node) => {
      if (!label || label[3]) return [];
      const half = WIDEST_LETTER * label[0].length;
      return [{ x: places[node].x + label[1] - half, y: places[node].y + label[2] - 10, width: 2 * half, height: 20 }];
    });
  return {
    places,
    radius,
    movable: true,
    edges: true,
    scale: drawing.scale,
    below: [],
    above: [],
    get box() {
      return joined([boundingBox(places, MARGIN), ...labelBoxes()]);
    },
    target: (node) => {
      const type = drawing.types ? `type-${drawing.types[node]}` : undefined;
      return svg("circle", { cx: places[node].x, cy: places[node].y, r: radius, class: type });
    },
    ring: (node, more) => svg("circle", { cx: places[node].x, cy: places[node].y, r: radius + more }),
    label: (node) => {
      const label = drawing.labels[node];
      if (!label) return null;
      const [text, x, y, inside] = label;
      return { text, at: { x: places[node].x + x, y: places[node].y + y }, inside };
    },
    motif: (nodes, strength, side, lines) => blob(nodes, lines ?? content.edges, places, drawing.reach, strength, side, names(nodes), drawing.crowded),
  };
}
