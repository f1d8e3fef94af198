// What motifs are drawn on. Each kind of drawing says where its nodes lie and how to point at them and mark them.

import type { Drawing } from "./content";

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

export interface MotifShape {
  /** Shapes of one motif, to be laid under the nodes (or over an image). */
  parts: SVGElement[];
  /** Where its badges go: one for each connected part. */
  badges: Point[];
}

export interface Ground {
  /** All that must be visible. */
  box: Box;
  places: Point[];
  /** Drawn below the motifs, such as an image. */
  below: SVGElement[];
  /** Drawn above the motifs and below the nodes, such as bonds. */
  above: SVGElement[];
  /** The thing of one node that the reader points at; its class says how it looks. */
  target(node: number): SVGElement;
  /** A ring around a node, by so much larger than the node. */
  ring(node: number, more: number): SVGElement;
  /** What pales all that is in none of these nodes. */
  veil?(nodes: number[]): SVGElement;
  /** Whether nodes can be dragged elsewhere. */
  movable: boolean;
  /** Draws edges as lines between places, kept up to date while nodes move. */
  edges: boolean;
  /** Where a node's name stands and how; null for none. */
  label(node: number): { text: string; at: Point; inside: boolean } | null;
  /** How a motif looks: by its nodes and the edges between them, or by edges that it consists of. */
  motif(nodes: number[], strength: number, side: "for" | "against", lines?: [number, number][]): MotifShape;
  /** Size of a node, for rings and links. */
  radius: number;
  /** Largest number of pixels for one unit of the drawing, so that small drawings do not swell. */
  scale: number;
}

export function boundingBox(points: Point[], margin: number): Box {
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  return { x: left, y: top, width: Math.max(...xs) + margin - left, height: Math.max(...ys) + margin - top };
}

/** The box around some boxes. */
export function joined(boxes: Box[]): Box {
  const [left, top] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x: left, y: top, width: right - left, height: bottom - top };
}

export function pointsOf(drawing: Drawing): Point[] {
  return drawing.places.map(([x, y]) => ({ x, y }));
}

export function boxOf(drawing: Drawing): Box {
  const [x, y, width, height] = drawing.box;
  return { x, y, width, height };
}
