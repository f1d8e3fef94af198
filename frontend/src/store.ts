// What the reader has chosen: a setting (τ, m, M), and what is marked. Panels listen; nobody else holds state.

import type { Content, Motif, Solution } from "./content";
import type { Values } from "./link";

export type Mark =
  | { kind: "none" }
  | { kind: "player"; player: number }
  | { kind: "pair"; players: [number, number] }
  | { kind: "motif"; rank: number };

export const NOTHING: Mark = { kind: "none" };

export class Store {
  /** Positions on the three axes of the grid. */
  setting: [number, number, number];
  mark: Mark = NOTHING;
  pinned = false;
  private readonly onSolution: (() => void)[] = [];
  private readonly onMark: (() => void)[] = [];
  private readonly onChange: (() => void)[] = [];

  constructor(readonly content: Content) {
    this.setting = [...content.grid.start];
  }

  /** The solution of the present setting; null where no motifs meet the conditions. */
  get solution(): Solution | null {
    const { counts, sizes, cells } = this.content.grid;
    const [tau, count, size] = this.setting;
    return this.content.solutions[cells[(tau * counts.length + count) * sizes.length + size]] ?? null;
  }

  get motifs(): Motif[] {
    return this.solution?.motifs ?? [];
  }

  /** For each player the rank of its motif; −1 for none. */
  get ranks(): number[] {
    const ranks = new Array<number>(this.content.players.length).fill(-1);
    this.motifs.forEach((motif, rank) => motif.players.forEach((player) => (ranks[player] = rank)));
    return ranks;
  }

  get strongest(): number {
    return Math.max(...this.motifs.map((motif) => Math.abs(motif.score)), 0) || 1;
  }

  choose(axis: 0 | 1 | 2, position: number): void {
    if (this.setting[axis] === position) return;
    this.setting[axis] = position;
    this.changed();
  }

  reset(): void {
    this.setting = [...this.content.grid.start];
    this.changed();
  }

  /** The present setting by its values: τ, m and M. */
  get values(): Values {
    const { taus, counts, sizes } = this.content.grid;
    const [tau, count, size] = this.setting;
    return [taus[tau], counts[count], sizes[size]];
  }

  /** Chooses a setting by its values, those nearest to them that were solved. */
  chooseValues(values: Values | null | undefined): void {
    if (!values) return;
    const { taus, counts, sizes } = this.content.grid;
    const nearest = (all: number[], value: number) =>
      all.reduce((best, other, at) => (Math.abs(other - value) < Math.abs(all[best] - value) ? at : best), 0);
    this.setting = [nearest(taus, values[0]), nearest(counts, values[1]), nearest(sizes, values[2])];
    this.changed();
  }

  /** For each motif of the present setting what follows from it, where the model was asked. */
  get effects(): ([string, string] | null)[] {
    const { effects, grid, solutions } = this.content;
    const [tau, count, size] = grid.start;
    const first = solutions[grid.cells[(tau * grid.counts.length + count) * grid.sizes.length + size]];
    const known = new Map(effects.map((effect, rank) => [first?.motifs[rank]?.players.join(), effect]));
    return this.motifs.map((motif) => known.get(motif.players.join()) ?? null);
  }

  get atStart(): boolean {
    return this.setting.every((position, axis) => position === this.content.grid.start[axis]);
  }

  /** Marks for as long as the reader points there; a pinned mark stays. */
  point(mark: Mark): void {
    if (!this.pinned) this.setMark(mark);
  }

  /** Marks until the same is pinned again or nothing is. */
  pin(mark: Mark): void {
    const again = this.pinned && same(mark, this.mark);
    this.pinned = !again && mark.kind !== "none";
    this.setMark(again ? NOTHING : mark);
  }

  /** All players that the mark names. */
  get marked(): number[] {
    const mark = this.mark;
    if (mark.kind === "player") return [mark.player];
    if (mark.kind === "pair") return [...new Set(mark.players)];
    return mark.kind === "motif" ? (this.motifs[mark.rank]?.players ?? []) : [];
  }

  listenToSolution(listener: () => void): void {
    this.onSolution.push(listener);
    listener();
  }

  listenToMark(listener: () => void): void {
    this.onMark.push(listener);
    listener();
  }

  /** Called after the reader chose another setting. */
  onChoice(listener: () => void): void {
    this.onChange.push(listener);
  }

  private changed(): void {
    if (this.mark.kind === "motif") {
      this.pinned = false;
      this.mark = NOTHING;
    }
    this.onSolution.forEach((listener) => listener());
    this.onMark.forEach((listener) => listener());
    this.onChange.forEach((listener) => listener());
  }

  private setMark(mark: Mark): void {
    if (same(mark, this.mark)) return;
    this.mark = mark;
    this.onMark.forEach((listener) => listener());
  }
}

function same(a: Mark, b: Mark): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
