// Interactions of all pairs on a canvas, players in the order of their motifs. One cell is one pair.

import { cssValue, html } from "./dom";
import { clipped, number } from "./format";
import type { Pairs } from "./content";
import { NOTHING, type Store } from "./store";

const MOST_NAMED = 45; // players whose names fit beside the map
const LARGEST_TYPE = 12; // pixels
const WIDEST = 620;
const LARGEST_CELL = 44; // pixels
const MARKED_CELL = 7; // pixels of a cell from which a dash can mark negative ones

type Colour = [number, number, number];

export function heatMap(store: Store, pairs: Pairs, container: HTMLElement): void {
  const base = html("canvas", { "aria-hidden": "true" });
  const cursor = html("canvas", {
    tabindex: 0,
    role: "img",
    "aria-label": "Heat map of all pairs. Arrow keys move from pair to pair; the line below the drawing says which.",
  });
  const frame = html("div", { class: "map-frame" }, base, cursor);
  container.append(frame, scale(pairs.reach, store.content.words.players));
  if (pairs.size < store.content.players.length) {
    container.append(html("p", { class: "faint" }, `The ${pairs.size} ${store.content.words.players} that interact most.`));
  }
  /** Positions of the pairs' players in the order shown. */
  let order: number[] = [];
  let place: number[] = [];
  let layout = { margin: 0, cell: 1, side: 1 };
  let focus: [number, number] = [0, 1];
  let colours = coloured(pairs);
  const small = html("canvas", { width: pairs.size, height: pairs.size });

  function arrange(): void {
    const ranks = store.ranks;
    const key = (position: number) => ranks[pairs.players[position]] >>> 0; // −1, in no motif, becomes the last
    order = pairs.players.map((_, position) => position).sort((a, b) => key(a) - key(b) || a - b);
    place = new Array(order.length);
    order.forEach((position, at) => (place[position] = at));
  }

  function resize(): void {
    const most = Math.min(WIDEST, LARGEST_CELL * pairs.size + 96);
    const side = Math.max(160, Math.min(most, container.clientWidth || most));
    const ratio = Math.max(window.devicePixelRatio || 1, 2); // at least two, so that print is sharp
    const margin = pairs.size <= MOST_NAMED ? Math.min(96, side * 0.22, widest() + 12) : 8;
    layout = { margin, cell: (side - margin - 1) / pairs.size, side };
    for (const canvas of [base, cursor]) {
      canvas.width = canvas.height = Math.round(side * ratio);
      canvas.style.width = canvas.style.height = `${side}px`;
      canvas.getContext("2d")?.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    frame.style.width = frame.style.height = `${side}px`;
    frame.dataset.margin = String(margin);
    draw();
    drawCursor();
  }

  /** Width of the longest name, as large as names are written at most. */
  function widest(): number {
    const context = base.getContext("2d");
    if (!context) return 96;
    context.font = `${LARGEST_TYPE}px ${cssValue("--sans")}`;
    return Math.max(...pairs.players.map((player) => context.measureText(store.content.players[player]).width));
  }

  function draw(): void {
    const context = base.getContext("2d");
    if (!context) return;
    const { margin, cell, side } = layout;
    const { size } = pairs;
    context.clearRect(0, 0, side, side);
    // Settings change the order of the players only, so colours are mixed once and moved.
    const pixels = new ImageData(size, size);
    const moved = new Uint32Array(pixels.data.buffer);
    for (let row = 0; row < size; row++) {
      for (let column = 0; column < size; column++) moved[row * size + column] = colours[order[row] * size + order[column]];
    }
    small.getContext("2d")?.putImageData(pixels, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, margin, margin, cell * pairs.size, cell * pairs.size);
    if (cell >= MARKED_CELL) markNegative(context);
    outlineMotifs(context);
    if (pairs.size <= MOST_NAMED) writeNames(context);
  }

  /** A dash in negative cells says the sign without colour. */
  function markNegative(context: CanvasRenderingContext2D): void {
    const { margin, cell } = layout;
    context.strokeStyle = cssValue("--surface");
    context.lineWidth = Math.max(1, cell / 10);
    context.beginPath();
    order.forEach((i, row) =>
      order.forEach((j, column) => {
        if (pairs.value(i, j) < 0 && shade(pairs.value(i, j), pairs.reach) > 0.15) {
          const [x, y] = [margin + (column + 0.25) * cell, margin + (row + 0.5) * cell];
          context.moveTo(x, y);
          context.lineTo(x + cell / 2, y);
        }
      }),
    );
    context.stroke();
  }

  function outlineMotifs(context: CanvasRenderingContext2D): void {
    const { margin, cell } = layout;
    const ranks = store.ranks;
    context.strokeStyle = cssValue("--line");
    context.lineWidth = 1;
    context.strokeRect(margin, margin, cell * pairs.size, cell * pairs.size);
    store.motifs.forEach((motif, rank) => {
      const inside = order.map((position, at) => (ranks[pairs.players[position]] === rank ? at : -1)).filter((at) => at >= 0);
      if (!inside.length) return;
      const [first, count] = [inside[0], inside.length];
      context.strokeStyle = cssValue(motif.score >= 0 ? "--for" : "--against");
      context.setLineDash(motif.score >= 0 ? [] : [4, 3]);
      context.lineWidth = 1.75;
      context.strokeRect(margin + first * cell, margin + first * cell, count * cell, count * cell);
    });
    context.setLineDash([]);
  }

  function writeNames(context: CanvasRenderingContext2D): void {
    const { margin, cell } = layout;
    const size = Math.min(LARGEST_TYPE, cell * 0.85);
    context.fillStyle = cssValue("--ink-soft");
    context.font = `${size}px ${cssValue("--sans")}`;
    context.textBaseline = "middle";
    order.forEach((position, at) => {
      const name = fitting(context, store.content.players[pairs.players[position]], margin - 8);
      const middle = margin + (at + 0.5) * cell;
      context.textAlign = "right";
      context.fillText(name, margin - 5, middle);
      context.save();
      context.translate(middle, margin - 5);
      context.rotate(-Math.PI / 2);
      context.textAlign = "left";
      context.fillText(name, 0, 0);
      context.restore();
    });
  }

  /** Cross hairs through what is marked. */
  function drawCursor(): void {
    const context = cursor.getContext("2d");
    if (!context) return;
    const { margin, cell, side } = layout;
    const full = cell * pairs.size;
    context.clearRect(0, 0, side, side);
    context.strokeStyle = cssValue("--mark");
    const at = store.marked.map((player) => pairs.positionOf(player)).filter((p) => p !== undefined).map((p) => place[p]);
    if (store.mark.kind === "pair" && at.length) {
      const [row, column] = [at[0], at.at(-1) as number];
      context.lineWidth = 2;
      for (const [x, y] of [[column, row], [row, column]]) {
        context.strokeRect(margin + x * cell - 1, margin + y * cell - 1, cell + 2, cell + 2);
      }
    } else if (store.mark.kind === "player") {
      context.lineWidth = 1.5;
      for (const line of at) {
        context.strokeRect(margin, margin + line * cell, full, cell);
        context.strokeRect(margin + line * cell, margin, cell, full);
      }
    } else if (store.mark.kind === "motif" && at.length) {
      const [first, last] = [Math.min(...at), Math.max(...at)];
      context.lineWidth = 2.5;
      const length = (last - first + 1) * cell;
      context.strokeRect(margin + first * cell, margin + first * cell, length, length);
    }
  }

  function cellAt(event: PointerEvent): [number, number] | null {
    const box = cursor.getBoundingClientRect();
    const zoom = layout.side / box.width;
    const [column, row] = [event.clientX - box.left, event.clientY - box.top].map((distance) =>
      Math.floor((distance * zoom - layout.margin) / layout.cell),
    );
    const inside = [row, column].every((line) => line >= 0 && line < pairs.size);
    return inside ? [row, column] : null;
  }

  const markOf = ([row, column]: [number, number]) => {
    const [a, b] = [pairs.players[order[row]], pairs.players[order[column]]];
    return a === b ? ({ kind: "player", player: a } as const) : ({ kind: "pair", players: [a, b] as [number, number] } as const);
  };

  cursor.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    store.point(cell ? markOf(cell) : NOTHING);
  });
  cursor.addEventListener("pointerleave", () => store.point(NOTHING));
  cursor.addEventListener("click", (event) => {
    const cell = cellAt(event as PointerEvent);
    store.pin(cell ? markOf(cell) : NOTHING);
  });
  cursor.addEventListener("focus", () => cursor.matches(":focus-visible") && store.point(markOf(focus)));
  cursor.addEventListener("blur", () => store.point(NOTHING));
  cursor.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    focus = focus.map((line, which) => Math.min(pairs.size - 1, Math.max(0, line + step[which]))) as [number, number];
    store.point(markOf(focus));
  });

  arrange();
  resize();
  store.listenToSolution(() => {
    arrange();
    draw();
  });
  store.listenToMark(drawCursor);
  new ResizeObserver(resize).observe(container);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => {
      colours = coloured(pairs);
      draw();
      drawCursor();
    });
  }
}

/** A name cut to a width in pixels. */
function fitting(context: CanvasRenderingContext2D, name: string, width: number): string {
  let length = [...name].length;
  while (length > 1 && context.measureText(clipped(name, length)).width > width) length -= 1;
  return clipped(name, length);
}

/** The colour scale with its numbers. */
function scale(reach: number, players: string): HTMLElement {
  return html(
    "div",
    { class: "scale" },
    html("span", { class: "against" }, number(-reach)),
    html("span", { class: "ramp", role: "img", "aria-label": "colour scale from against to for" }),
    html("span", { class: "for" }, number(reach, true)),
    html("span", { class: "faint" }, `single ${players} lie on the diagonal`),
  );
}

/** The colour of each pair, as pixels of an image. */
function coloured(pairs: Pairs): Uint32Array {
  const [surface, positive, negative] = ["--surface", "--for", "--against"].map((name) => parsed(cssValue(name)));
  const bytes = new Uint8ClampedArray(4 * pairs.size ** 2);
  for (let i = 0; i < pairs.size; i++) {
    for (let j = 0; j < pairs.size; j++) {
      const value = pairs.value(i, j);
      const [red, green, blue] = mixed(surface, value >= 0 ? positive : negative, shade(value, pairs.reach));
      const at = 4 * (i * pairs.size + j);
      bytes[at] = red;
      bytes[at + 1] = green;
      bytes[at + 2] = blue;
      bytes[at + 3] = 255;
    }
  }
  return new Uint32Array(bytes.buffer);
}

/** How much of the colour a value gets: roots keep weak interactions visible. */
function shade(value: number, reach: number): number {
  return Math.sqrt(Math.min(1, Math.abs(value) / reach));
}

function mixed(from: Colour, to: Colour, weight: number): Colour {
  return from.map((part, k) => Math.round(part + (to[k] - part) * weight)) as Colour;
}

function parsed(colour: string): Colour {
  const digits = colour.slice(1);
  const wide = digits.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits;
  return [0, 2, 4].map((at) => parseInt(wide.slice(at, at + 2), 16)) as Colour;
}
