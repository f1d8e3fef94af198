// What the page was made with; the Python module `mage.report.page_content` writes it.

/** Where everything lies, as `mage.drawing.scene_of` found it. */
export interface Drawing {
  kind: "graph" | "molecule" | "sentence" | "image";
  box: [number, number, number, number];
  places: [number, number][];
  radius: number;
  /** Half of the width of the stroke that stands for a motif. */
  reach: number;
  /** Most pixels for one unit. */
  scale: number;
  /** Name of each node with its place beside the node, and whether it stands in it. */
  crowded: boolean; // only names of important nodes are written
  labels: ([string, number, number, boolean] | null)[];
  shapes?: Shape[];
  arcs?: string[];
  widths?: number[];
  height?: number;
  /** Types of nodes by name, and the colour of each node's type by number. */
  kinds?: string[];
  types?: number[];
  source?: string;
  shape?: [number, number];
  runs?: number[];
}

/** What nodes and players are called. */
export interface Words {
  node: string;
  nodes: string;
  player: string;
  players: string;
  whole: string;
}

export interface Shape {
  d: string;
  filled: boolean;
  width: number;
}

export interface Motif {
  players: number[];
  score: number;
  error: number | null;
  /** What kind of group it is, where nodes have types: the types along a path, or how many of each. */
  kind: string;
}

export interface Solution {
  motifs: Motif[];
  objective: number;
  bound: number | null;
  proof: string;
  optimal: boolean;
  /** What the motifs against are worth, where both sides were searched apart. */
  against?: number;
}

export interface Grid {
  taus: number[];
  counts: number[];
  sizes: number[];
  cells: number[];
  start: [number, number, number];
  complete: boolean;
  noiseFloor: number;
  /** Whether the interactions are estimates: the best motifs are then the best for these. */
  estimated: boolean;
  /** Most players of the side against at the first setting, where both sides were searched apart. */
  againstSize?: number;
}

export interface Content {
  drawing: Drawing;
  /** The same for a narrow screen, where it differs. */
  narrow?: Drawing;
  words: Words;
  /** What the explanation is called where there are several, and the title of the page. */
  name: string;
  title: string;
  /** The explained class or output, in words. */
  target: string;
  output: string;
  /** Names of the nodes that tell them apart, and their numbers in the whole graph. */
  nodes: string[];
  numbers: number[];
  /** What is known of each node, in words; empty where nothing is. */
  notes: string[];
  owner: number[];
  edges: [number, number][];
  /** Nodes that are explained, and those of the ground truth. */
  explained: number[];
  truth: number[];
  /** For each motif of the first setting what the model says with only it and without it. */
  effects: [string, string][];
  players: string[];
  grouped: boolean;
  first: number[];
  share: number[];
  shareName: string;
  partners: ([number, number] | null)[];
  pairs: Pairs | null;
  grid: Grid;
  solutions: Solution[];
  /** Nodes of each player; where edges play, their two ends. */
  members: number[][];
  ends: [number, number][] | null;
}

/** Interactions of pairs of players; single players lie on the diagonal. Positions count within `players`. */
export class Pairs {
  readonly size: number;
  readonly reach: number;
  private readonly place: Map<number, number>;

  constructor(
    readonly players: number[],
    private readonly values: Float32Array,
    private readonly errors: Float32Array | null,
  ) {
    this.size = players.length;
    this.place = new Map(players.map((player, position) => [player, position]));
    this.reach = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  }

  value(i: number, j: number): number {
    return this.values[this.index(i, j)];
  }

  error(i: number, j: number): number | null {
    return this.errors ? this.errors[this.index(i, j)] : null;
  }

  positionOf(player: number): number | undefined {
    return this.place.get(player);
  }

  /** The strongest partners of a player, as players. */
  partners(player: number, most: number): { player: number; value: number }[] {
    const row = this.positionOf(player);
    if (row === undefined) return [];
    return this.players
      .map((partner, column) => ({ player: partner, value: this.value(row, column) }))
      .filter((pair) => pair.player !== player && pair.value !== 0)
      .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
      .slice(0, most);
  }

  private index(i: number, j: number): number {
    const [low, high] = i < j ? [i, j] : [j, i];
    return low * this.size - (low * (low - 1)) / 2 + (high - low);
  }
}

/** All explanations of the page, and whether they stand side by side. */
export function readContents(): { contents: Content[]; sideBySide: boolean } {
  const { others = [], sideBySide = false, ...first } = JSON.parse(document.getElementById("data")?.textContent ?? "{}");
  // The same graph is drawn once, for all classes that are explained.
  const contents = [first, ...others.map((other: any) => ({ ...other, drawing: other.drawing ?? first.drawing, narrow: other.narrow ?? first.narrow }))];
  return { contents: contents.map(contentOf), sideBySide };
}

function contentOf(raw: any): Content {
  const members: number[][] = raw.players.map(() => []);
  if (raw.ends) raw.ends.forEach((nodes: number[], player: number) => members[player].push(...new Set(nodes)));
  else raw.owner.forEach((player: number, node: number) => player >= 0 && members[player].push(node));
  const solutions = raw.solutions.map((solution: any) => ({
    ...solution,
    motifs: solution.motifs.map(([players, score, error, kind]: [number[], number, number | null, string?]) => ({
      players,
      score,
      error,
      kind: kind ?? "",
    })),
  }));
  const pairs = raw.map && new Pairs(raw.map.players, floats(raw.map.values), raw.map.errors && floats(raw.map.errors));
  const numbers = raw.numbers ?? raw.nodes.map((_: string, node: number) => node);
  return { ...raw, members, solutions, pairs, numbers, ends: raw.ends ?? null };
}

function floats(text: string): Float32Array {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}
