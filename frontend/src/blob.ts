// The outline of a motif on a graph: one soft shape along its edges, hatched where it is against the output.

import { svg } from "./dom";
import type { MotifShape, Point } from "./ground";

const FAR = 1.6; // a second ring of places for badges
const FAR_PENALTY = 4; // what such a place must gain

/** Edges inside a set of nodes. */
export function edgesWithin(nodes: number[], edges: [number, number][]): [number, number][] {
  const inside = new Set(nodes);
  return edges.filter(([i, j]) => inside.has(i) && inside.has(j));
}

/** The connected parts of a set of nodes; a motif that need not be connected may have several. */
export function connectedParts(nodes: number[], edges: [number, number][]): number[][] {
  const root = new Map(nodes.map((node) => [node, node]));
  const find = (node: number): number => {
    const above = root.get(node) as number;
    return above === node ? node : find(above);
  };
  for (const [i, j] of edgesWithin(nodes, edges)) root.set(find(i), find(j));
  const parts = new Map<number, number[]>();
  for (const node of nodes) {
    const part = parts.get(find(node));
    if (part) part.push(node);
    else parts.set(find(node), [node]);
  }
  return [...parts.values()];
}

export function blob(
  nodes: number[],
  edges: [number, number][],
  places: Point[],
  radius: number,
  strength: number,
  side: "for" | "against",
  taken: Point[] = [],
  crowded = false,
): MotifShape {
  const dots = nodes.map((node) => `M${at(places[node])}h.01`);
  const lines = edgesWithin(nodes, edges).map(([i, j]) => `M${at(places[i])}L${at(places[j])}`);
  const d = [...dots, ...lines].join("");
  const line = 1.5 + 1.5 * strength;
  // A stroke has no outline of its own: a wider one below and the page's colour between make one.
  const parts: SVGElement[] = [
    svg("path", { d, class: `blob ${side}`, "stroke-width": 2 * (radius + line) }),
    svg("path", { d, class: "blob cover", "stroke-width": 2 * radius }),
    svg("path", { d, class: `blob ${side}`, "stroke-width": 2 * radius, "stroke-opacity": tint(strength, side) }),
  ];
  if (side === "against") {
    parts.push(svg("path", { d, class: "blob", stroke: "url(#hatch)", "stroke-width": 2 * radius }));
  }
  const badges = connectedParts(nodes, edges).map((part) => freePlace(part, edges, places, radius + 11, taken, crowded));
  return { parts, badges };
}

/** A place at the border of a motif that is far from all nodes, edges and names; of equal ones the highest. */
function freePlace(nodes: number[], edges: [number, number][], places: Point[], distance: number, names: Point[], crowded: boolean): Point {
  // In drawings of many nodes there is little room beside a node: a badge may stand further away.
  const rings = crowded ? [1, FAR] : [1];
  const between = (a: Point, b: Point, share: number) => ({ x: a.x + share * (b.x - a.x), y: a.y + share * (b.y - a.y) });
  const taken = [...places, ...names, ...edges.flatMap(([i, j]) => [0.25, 0.5, 0.75].map((share) => between(places[i], places[j], share)))];
  let best = places[nodes[0]];
  let most = -Infinity;
  // The topmost few are candidates enough, and large motifs stay fast.
  const tops = [...nodes].sort((a, b) => places[a].y - places[b].y).slice(0, 12);
  for (const node of tops) {
    for (let step = 0; step < 12 * rings.length; step++) {
      const angle = (step * Math.PI) / 6;
      const away = distance * rings[Math.floor(step / 12)];
      const spot = { x: places[node].x + away * Math.cos(angle), y: places[node].y + away * Math.sin(angle) };
      const room = taken.reduce((least, other) => Math.min(least, (other.x - spot.x) ** 2 + (other.y - spot.y) ** 2), Infinity);
      const worth = Math.min(Math.sqrt(room), 2 * distance) - 0.02 * spot.y - (step < 12 ? 0 : FAR_PENALTY);
      if (worth > most) [best, most] = [spot, worth];
    }
  }
  return best;
}

/** Stronger motifs are darker. Hatching adds to what is against, so its ground is paler. */
export function tint(strength: number, side: "for" | "against"): number {
  return side === "for" ? 0.12 + 0.38 * strength : 0.08 + 0.22 * strength;
}

function at(place: Point): string {
  return `${place.x.toFixed(1)} ${place.y.toFixed(1)}`;
}
