// Positions for the nodes of a graph, by cytoscape's fCoSE: the same for the same graph, always.

import cytoscape from "cytoscape";
import fcose from "cytoscape-fcose";
import type { Point } from "./ground";

cytoscape.use(fcose);

const ASPECT = 1.45; // of the panel that the drawing has to fill

/** Lays a graph out from given first positions (if any); nodes of one motif are kept together. */
export function layout(count: number, edges: [number, number][], motifs: number[][], first: Point[] | null): Point[] {
  if (count === 1) return [{ x: 0, y: 0 }];
  const parent = new Map(motifs.flatMap((nodes, rank) => nodes.map((node) => [node, `motif${rank}`] as const)));
  const graph = cytoscape({
    headless: true,
    styleEnabled: true,
    layout: { name: "preset" },
    style: [{ selector: "node", style: { width: 26, height: 26 } }],
    elements: [
      ...motifs.map((_, rank) => ({ data: { id: `motif${rank}` } })),
      ...Array.from({ length: count }, (_, node) => ({
        data: { id: String(node), parent: parent.get(node) },
        position: first ? { ...first[node] } : undefined,
      })),
      ...edges.map(([i, j]) => ({ data: { source: String(i), target: String(j) } })),
    ],
  });
  const options = {
    name: "fcose",
    animate: false,
    fit: false,
    // From good first positions a few rounds are enough, and large graphs open at once.
    quality: "default",
    numIter: first === null ? 2500 : 600,
    randomize: first === null,
    idealEdgeLength: 58,
    nodeRepulsion: 6500,
    nestingFactor: 0.9,
    gravity: 0.3,
    packComponents: false,
  };
  seeded(() => graph.layout(options as cytoscape.LayoutOptions).run());
  const places = Array.from({ length: count }, (_, node) => ({ ...graph.getElementById(String(node)).position() }));
  graph.destroy();
  return turned(places);
}

/** Runs something with repeatable "random" numbers, and puts the real ones back. */
function seeded(run: () => void): void {
  const random = Math.random;
  let state = 0x9e3779b9;
  Math.random = () => {
    // xorshift32
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  try {
    run();
  } finally {
    Math.random = random;
  }
}

/** First positions as they are, for graphs that would take long to arrange. */
export function asGiven(first: Point[]): Point[] {
  return turned(first);
}

/** The layout turned so that it fills the panel best. */
function turned(places: Point[]): Point[] {
  const candidates = Array.from({ length: 36 }, (_, step) => {
    const [cos, sin] = [Math.cos((step * Math.PI) / 36), Math.sin((step * Math.PI) / 36)];
    return places.map(({ x, y }) => ({ x: x * cos - y * sin, y: x * sin + y * cos }));
  });
  const need = (points: Point[]) => Math.max(extent(points.map((p) => p.x)) / ASPECT, extent(points.map((p) => p.y)));
  return candidates.reduce((best, next) => (need(next) < need(best) - 1e-6 ? next : best));
}

function extent(values: number[]): number {
  return Math.max(...values) - Math.min(...values);
}
