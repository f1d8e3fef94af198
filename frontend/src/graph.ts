// The ground of a general graph: circles and lines.

import { blob } from "./blob";
import type { Content } from "./content";
import { svg } from "./dom";
import { clipped } from "./format";
import { boundingBox, type Ground, type Point } from "./ground";
import { asGiven, layout } from "./layout";

const MOST_LABELS = 80;
const MOST_ARRANGED = 150; // nodes; larger graphs are arranged around their motifs only when the reader asks

export function graphGround(content: Content, motifs: number[][], asked: boolean): Ground {
  const count = content.nodes.length;
  const first = content.places.length ? content.places.map(([x, y]) => ({ x, y })) : null;
  const arrange = asked || !first || count <= MOST_ARRANGED;
  const places: Point[] = arrange ? layout(count, content.edges, motifs, first) : asGiven(first);
  const radius = count <= 60 ? 11 : count <= 150 ? 8 : 6;
  const short = content.labels.every((name) => [...name].length <= 3);
  return {
    places,
    radius,
    movable: true,
    edges: true,
    scale: 1.5,
    below: [],
    above: [],
    get box() {
      return boundingBox(places, 46);
    },
    target: (node) => svg("circle", { cx: places[node].x, cy: places[node].y, r: radius }),
    label: (node) => {
      const { x, y } = places[node];
      if (count > MOST_LABELS) return null;
      const inside = short && radius > 9;
      return { text: clipped(content.labels[node], 14), at: { x, y: inside ? y : y + radius + 9 }, inside };
    },
    motif: (nodes, strength, side) => blob(nodes, content.edges, places, radius + 8, strength, side),
  };
}
