// A bar for each motif: its score from zero to the right (for) or left (against), with its standard error.

import { html, svg } from "./dom";
import { clipped, motifName, withError } from "./format";
import type { Motif } from "./content";
import { NOTHING, type Store } from "./store";

const WIDTH = 200;
const HEIGHT = 22;

interface Axis {
  zero: number;
  /** Units of the picture for one of the score. */
  unit: number;
}

/** Zero lies where all bars fit with their errors: at an end if all motifs are on one side. */
function axisOf(motifs: Motif[]): Axis {
  const low = Math.min(0, ...motifs.map((motif) => motif.score - (motif.error ?? 0)));
  const high = Math.max(0, ...motifs.map((motif) => motif.score + (motif.error ?? 0)));
  const unit = (WIDTH - 8) / (high - low || 1);
  return { zero: 4 - low * unit, unit };
}

export function bars(store: Store, container: HTMLElement): void {
  let rows: HTMLElement[] = [];
  store.listenToSolution(() => {
    const axis = axisOf(store.motifs);
    rows = store.motifs.map((motif, rank) => row(store, motif, rank, axis));
    container.replaceChildren(...(rows.length ? rows : [html("p", { class: "faint" }, "No motif found.")]));
  });
  store.listenToMark(() => {
    const { mark } = store;
    rows.forEach((element, rank) => {
      const inside = mark.kind === "motif" ? mark.rank === rank : touches(store, rank);
      element.classList.toggle("marked", inside);
      element.setAttribute("aria-pressed", String(store.pinned && mark.kind === "motif" && mark.rank === rank));
    });
  });
}

function touches(store: Store, rank: number): boolean {
  const players = new Set(store.motifs[rank]?.players);
  return store.marked.some((player) => players.has(player));
}

function row(store: Store, motif: Motif, rank: number, axis: Axis): HTMLElement {
  const side = motif.score >= 0 ? "for" : "against";
  const names = motif.players.map((player) => store.content.players[player]);
  const { player, players } = store.content.words;
  const count = `${names.length} ${names.length === 1 ? player : players}`;
  const effect = store.effects[rank];
  const element = html(
    "button",
    { type: "button", class: `bar ${side}-side`, title: names.join(", "), "data-rank": rank },
    html("span", { class: `badge ${side}` }, `${motifName(rank)} ${side === "for" ? "+" : "−"}`),
    html("span", { class: "names" }, html("b", {}, `${motif.kind ? `${motif.kind}, ` : ""}${count} ${side}: `), clipped(names.join(", "), 90)),
    picture(motif, axis, store),
    html("span", { class: `score ${side}` }, withError(motif.score, motif.error)),
    ...(effect ? [html("span", { class: "effect" }, `alone ${effect[0]}, without it ${effect[1]}`)] : []),
  );
  const mark = { kind: "motif", rank } as const;
  element.addEventListener("pointerenter", () => store.point(mark));
  element.addEventListener("pointerleave", () => store.point(NOTHING));
  element.addEventListener("focus", () => store.point(mark));
  element.addEventListener("blur", () => store.point(NOTHING));
  element.addEventListener("click", () => store.pin(mark));
  return element;
}

function picture(motif: Motif, { zero, unit }: Axis, store: Store): SVGElement {
  const side = motif.score >= 0 ? "for" : "against";
  const end = zero + motif.score * unit;
  const box = { x: Math.min(zero, end), y: 4, width: Math.abs(end - zero), height: HEIGHT - 8 };
  const strength = Math.abs(motif.score) / store.strongest;
  const drawn = svg(
    "svg",
    { class: "score-bar", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { ...box, class: `fill ${side}`, "fill-opacity": 0.35 + 0.55 * strength }),
  );
  if (side === "against") drawn.append(svg("rect", { ...box, fill: "url(#hatch-bar)" }));
  drawn.append(svg("line", { x1: zero, x2: zero, y1: 0, y2: HEIGHT, class: "axis" }));
  if (motif.error) {
    const [low, high] = [end - motif.error * unit, end + motif.error * unit];
    const d = `M${low} ${HEIGHT / 2}H${high}M${low} 7V${HEIGHT - 7}M${high} 7V${HEIGHT - 7}`;
    drawn.append(svg("path", { class: "whisker", d }));
  }
  return drawn;
}
