// What the page was made with; the Python module `mage.report.page_content` writes it.

export type Drawing =
  | { kind: "graph" }
  | { kind: "molecule"; size: [number, number]; places: [number, number][]; symbols: string[]; shapes: Shape[] }
  | { kind: "sentence"; words: string[] }
  | { kind: "image"; source: string; shape: [number, number]; runs: number[] };

export interface Shape {
  d: string;
  filled: boolean;
  width: number;
}

export interface Motif {
  players: number[];
  score: number;
  error: number | null;
}

export interface Solution {
  motifs: Motif[];
  objective: number;
  bound: number | null;
  proof: string;
  optimal: boolean;
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
}

export interface Content {
  drawing: Drawing;
  /** Names of the nodes that tell them apart, and as they were given. */
  nodes: string[];
  labels: string[];
  owner: number[];
  edges: [number, number][];
  /** Where the nodes of a graph may begin; empty where the page has to find out by itself. */
  places: [number, number][];
  players: string[];
  grouped: boolean;
  first: number[];
  share: number[];
  shareName: string;
  partners: ([number, number] | null)[];
  pairs: Pairs | null;
  grid: Grid;
  solutions: Solution[];
  /** Nodes of each player. */
  members: number[][];
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

export function readContent(): Content {
  const raw = JSON.parse(document.getElementById("data")?.textContent ?? "{}");
  const members: number[][] = raw.players.map(() => []);
  raw.owner.forEach((player: number, node: number) => player >= 0 && members[player].push(node));
  const solutions = raw.solutions.map((solution: any) => ({
    ...solution,
    motifs: solution.motifs.map(([players, score, error]: [number[], number, number | null]) => ({
      players,
      score,
      error,
    })),
  }));
  const pairs = raw.map && new Pairs(raw.map.players, floats(raw.map.values), raw.map.errors && floats(raw.map.errors));
  return { ...raw, members, solutions, pairs };
}

function floats(text: string): Float32Array {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}
