// The drawing: a ground with its motifs, nodes to point at, and lines to the partners of what is marked.

import type { Content, Motif } from "./content";
import { cssValue, html, set, svg } from "./dom";
import { motifName } from "./format";
import type { Ground, Point } from "./ground";
import { NOTHING, type Store } from "./store";
import { View } from "./view";

const PARTNERS = 5;
const LABEL_SIZE = 10.5;
const LEAST_TYPE = 8; // pixels
const LEAST_TARGET = 13; // pixels from the middle of a node
const MOST_WIDENED = 150; // nodes

export class Stage {
  private readonly layers: Record<"below" | "motifs" | "edges" | "above" | "links" | "nodes" | "rings" | "labels" | "badges", SVGGElement>;
  private readonly root: SVGSVGElement;
  private readonly view: View;
  private nodes: SVGGElement[] = [];
  private typeSize = LABEL_SIZE;
  /** Nodes in motifs, and nodes that are marked. */
  private inMotifs: number[] = [];
  private named = new Set<number>();
  private ground: Ground;
  private current = 0;

  constructor(
    private readonly store: Store,
    ground: Ground,
    container: HTMLElement,
  ) {
    this.ground = ground;
    const layer = (name: string) => svg("g", { class: `layer-${name}` });
    this.layers = {
      below: layer("below"),
      motifs: layer("motifs"),
      edges: layer("edges"),
      above: layer("above"),
      links: layer("links"),
      nodes: layer("nodes"),
      rings: layer("rings"),
      labels: layer("labels"),
      badges: layer("badges"),
    };
    this.root = svg(
      "svg",
      {
        class: `drawing-svg ${store.content.drawing.kind}`,
        tabindex: 0,
        role: "group",
        "aria-label": `Drawing of ${store.content.words.whole} with its motifs. Arrow keys move between ${store.content.words.nodes}, Enter keeps one marked.`,
      },
      ...Object.values(this.layers),
    );
    container.append(this.root);
    this.view = new View(this.root, container, ground);
    this.view.onScale = () => this.scaleSigns();
    this.listen();
    this.draw();
    store.listenToSolution(() => this.drawMotifs());
    store.listenToMark(() => this.drawMark());
  }

  /** Buttons for the heading of the panel. */
  tools(rearrange: (() => Ground) | null): HTMLElement[] {
    const button = (text: string, label: string, act: () => void) => {
      const made = html("button", { type: "button", class: "tool", title: label, "aria-label": label }, text);
      made.addEventListener("click", act);
      return made;
    };
    const made = [
      button("+", "Zoom in", () => this.view.zoom(1.25)),
      button("−", "Zoom out", () => this.view.zoom(0.8)),
      button("Fit", "Show all", () => this.view.fit()),
    ];
    if (rearrange) {
      made.push(
        button("Arrange", "Put all nodes back in their places", () => {
          this.ground = rearrange();
          this.view.ground = this.ground;
          this.draw();
          this.drawMotifs();
          this.drawMark();
          this.view.fit();
        }),
      );
    }
    return made;
  }

  /** The drawing as an SVG file of its own: colours are written out. */
  standalone(): string {
    const copy = this.root.cloneNode(true) as SVGSVGElement;
    const originals = this.root.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((element, at) => writeStyles(originals[at], element));
    copy.querySelectorAll(".layer-links, .hit, .covered, title").forEach((element) => element.remove());
    const patterns = (document.getElementById("patterns") as Element).cloneNode(true) as SVGDefsElement;
    patterns.querySelectorAll(".stripe").forEach((stripe) => set(stripe, { fill: cssValue("--against"), "fill-opacity": 0.55 }));
    copy.prepend(patterns);
    const [x, y, width, height] = (this.root.getAttribute("viewBox") ?? "0 0 1 1").split(" ").map(Number);
    copy.prepend(svg("rect", { x, y, width, height, fill: cssValue("--surface") }));
    set(copy, { xmlns: "http://www.w3.org/2000/svg", tabindex: false, role: "img", "font-family": "Helvetica, Arial, sans-serif" });
    return new XMLSerializer().serializeToString(copy);
  }

  private draw(): void {
    const { content } = this.store;
    const { ground, layers } = this;
    layers.below.replaceChildren(...ground.below);
    layers.above.replaceChildren(...ground.above);
    this.nodes = content.nodes.map((name, node) => {
      const player = content.owner[node];
      const idle = player < 0 && !content.ends ? " idle" : "";
      const group = svg("g", { class: `node${idle}`, "data-node": node, "data-player": player }, ground.target(node));
      const note = content.notes[node] ? `\n${content.notes[node]}` : "";
      group.append(svg("title", {}, `${name}${idle ? ", not a player" : ""}${note}`));
      return group;
    });
    layers.nodes.replaceChildren(...this.nodes);
    this.drawLines();
  }

  /** What follows the nodes when they move. */
  private drawLines(): void {
    const { ground, layers } = this;
    const { content } = this.store;
    if (ground.edges) {
      const lines = content.edges.map(([i, j]) => {
        const [from, to] = [ground.places[i], ground.places[j]];
        return svg("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y });
      });
      layers.edges.replaceChildren(...lines);
    }
    const labels = content.nodes.map((_, node) => {
      const label = ground.label(node);
      if (!label) return "";
      const { text, at, inside } = label;
      return svg("text", { x: at.x, y: at.y, class: inside ? "inside" : "beside", "data-node": node }, text);
    });
    layers.labels.replaceChildren(...labels.filter((label) => label !== ""));
    if (content.drawing.crowded) this.hideCovered();
    const ring = (node: number, name: string, more: number) => {
      const drawn = ground.ring(node, more);
      set(drawn, { class: name });
      return drawn;
    };
    layers.rings.replaceChildren(
      ...content.truth.map((node) => ring(node, "truth-ring", 4)),
      ...content.explained.map((node) => ring(node, "explained-ring", 7)),
    );
  }

  private drawMotifs(): void {
    const { store, ground, layers } = this;
    const { content, motifs } = store;
    const shapes: SVGElement[] = [];
    const badges: SVGElement[] = [];
    const sides = new Map<number, string>();
    const ranks = new Map<number, number>();
    motifs.forEach((motif, rank) => {
      const side = motif.score >= 0 ? "for" : "against";
      const nodes = [...new Set(motif.players.flatMap((player) => content.members[player]))];
      nodes.forEach((node) => sides.set(node, side) && ranks.set(node, rank));
      const found = ground.motif(nodes, Math.abs(motif.score) / store.strongest, side, linesOf(content, motif.players));
      shapes.push(svg("g", { class: "motif", "data-rank": rank }, ...found.parts));
      const sign = `${motifName(rank)} ${side === "for" ? "+" : "−"}`;
      badges.push(...found.badges.map((place) => badgeOf(sign, place, side)));
    });
    layers.motifs.replaceChildren(...shapes);
    const veil = ground.veil && motifs.length ? [ground.veil([...sides.keys()])] : [];
    if (ground.veil) layers.below.replaceChildren(...ground.below, ...veil);
    layers.badges.replaceChildren(...badges);
    this.inMotifs = [...sides.keys()];
    if (content.drawing.crowded) this.hideCovered();
    this.scaleSigns();
    this.nodes.forEach((group, node) => {
      const side = sides.get(node);
      group.classList.toggle("for-side", side === "for");
      group.classList.toggle("against-side", side === "against");
    });
    const lineSides = sidesOfLines(content, motifs);
    layers.edges.childNodes.forEach((line, which) => {
      const [i, j] = content.edges[which];
      const within = ranks.has(i) && ranks.get(i) === ranks.get(j);
      const side = content.ends ? lineSides.get(`${i} ${j}`) : within ? sides.get(i) : undefined;
      const wanted = side ? `${side}-side` : null;
      const edge = line as Element;
      if (edge.getAttribute("class") !== wanted) set(edge, { class: wanted ?? undefined });
    });
  }

  /** Badges stay readable where a large graph is drawn small. */
  private scaleSigns(): void {
    const scale = Math.max(1, 0.9 * this.view.unitsPerPixel);
    for (const badge of this.layers.badges.children) {
      set(badge.firstElementChild as Element, { transform: `scale(${scale.toFixed(2)})` });
    }
    const size = Math.max(LABEL_SIZE, LEAST_TYPE * this.view.unitsPerPixel);
    const type = `${size.toFixed(1)}px`;
    if (this.layers.labels.style.fontSize !== type) {
      this.layers.labels.style.fontSize = type;
      this.typeSize = size;
      this.hideCovered();
    }
    this.widenTargets();
  }

  /**
   * Where names are written larger than there is room for, those that would cover others are left out. In graphs of many
   * nodes, only names in motifs, in the ground truth, of what is explained, and of what is marked are written.
   */
  private hideCovered(): void {
    const { content } = this.store;
    const size = this.typeSize;
    const many = content.drawing.crowded;
    const crowded = many || size > LABEL_SIZE;
    const important = new Set([...this.inMotifs, ...content.explained, ...content.truth]);
    const shown: [number, number, number][] = [];
    const labels = [...this.layers.labels.querySelectorAll(".beside")];
    const isMarked = (label: Element) => this.named.has(Number(label.getAttribute("data-node")));
    for (const label of [...labels.filter(isMarked), ...labels.filter((one) => !isMarked(one))]) {
      const written = !many || isMarked(label) || important.has(Number(label.getAttribute("data-node")));
      const [x, y] = [Number(label.getAttribute("x")), Number(label.getAttribute("y"))];
      const half = 0.31 * size * (label.textContent?.length ?? 0);
      const overlaps = () => shown.some(([a, b, other]) => Math.abs(a - x) < half + other && Math.abs(b - y) < size);
      const covered = !written || (crowded && overlaps());
      // A class that is set again counts as a change, and there may be a thousand names.
      if (label.classList.contains("covered") !== covered) label.classList.toggle("covered", covered);
      if (!covered) shown.push([x, y, half]);
    }
  }

  /** A finger needs some room: small nodes can be touched beside them, halfway to the next one at most. */
  private widenTargets(): void {
    const { places, radius, edges } = this.ground;
    const wanted = LEAST_TARGET * this.view.unitsPerPixel;
    if (this.nodes.length > MOST_WIDENED || (!edges && this.store.content.drawing.kind !== "molecule")) return;
    this.nodes.forEach((group, node) => {
      const nearest = places.reduce((least, other, at) => {
        return at === node ? least : Math.min(least, Math.hypot(other.x - places[node].x, other.y - places[node].y));
      }, Infinity);
      const width = 2 * Math.min(wanted, nearest / 2);
      const hit = group.querySelector(".hit") ?? group.appendChild(svg("path", { class: "hit" }));
      if (width <= 2 * radius) hit.remove();
      else set(hit, { d: `M${places[node].x} ${places[node].y}h.01`, "stroke-width": width.toFixed(1) });
    });
  }

  private drawMark(): void {
    const { store, layers } = this;
    const { content, mark } = store;
    const marked = new Set(store.marked);
    const links: SVGElement[] = [];
    const partners = new Set<number>();
    const link = (a: number, b: number, value: number, reach: number) => {
      const [from, to] = [this.middle(a), this.middle(b)];
      if (!from || !to) return;
      const weight = Math.abs(value) / (reach || 1);
      links.push(
        svg("path", {
          d: bow(from, to),
          class: `link ${value >= 0 ? "for" : "against"}`,
          "stroke-width": 1.5 + 4 * weight,
          "stroke-dasharray": value >= 0 ? undefined : "6 4",
        }),
      );
    };
    const pairs = content.pairs;
    if (mark.kind === "player" && pairs) {
      const strongest = pairs.partners(mark.player, PARTNERS);
      for (const { player, value } of strongest) {
        partners.add(player);
        link(mark.player, player, value, Math.abs(strongest[0].value));
      }
    } else if (mark.kind === "pair" && pairs) {
      const [i, j] = mark.players.map((player) => pairs.positionOf(player));
      if (i !== undefined && j !== undefined) link(...mark.players, pairs.value(i, j), pairs.reach);
    }
    layers.links.replaceChildren(...links);
    this.root.classList.toggle("has-mark", mark.kind !== "none");
    this.nodes.forEach((group, node) => {
      const player = content.owner[node];
      group.classList.toggle("marked", marked.has(player));
      group.classList.toggle("partner", partners.has(player));
    });
    layers.motifs.childNodes.forEach((shape, rank) =>
      (shape as Element).classList.toggle("marked", mark.kind === "motif" && mark.rank === rank),
    );
    this.named = new Set((mark.kind === "motif" ? [] : [...marked, ...partners]).flatMap((player) => content.members[player] ?? []));
    if (content.drawing.crowded) this.hideCovered();
  }

  /** The middle of a player's nodes; null where none is drawn. */
  private middle(player: number): Point | null {
    const nodes = this.store.content.members[player];
    if (!nodes?.length) return null;
    const sum = nodes.reduce((total, node) => {
      const place = this.ground.places[node];
      return { x: total.x + place.x, y: total.y + place.y };
    }, { x: 0, y: 0 });
    return { x: sum.x / nodes.length, y: sum.y / nodes.length };
  }

  private listen(): void {
    const { store, root } = this;
    const nodeOf = (event: Event) => (event.target as Element).closest<SVGGElement>(".node");
    const markOf = (group: Element | null) => {
      const player = Number(group?.getAttribute("data-player") ?? -1);
      return player < 0 ? NOTHING : ({ kind: "player", player } as const);
    };
    let dragged: { node: number; moved: boolean } | null = null;
    root.addEventListener("pointerover", (event) => store.point(markOf(nodeOf(event))));
    root.addEventListener("pointerleave", () => store.point(NOTHING));
    root.addEventListener("click", (event) => {
      if (!this.view.panned && !dragged?.moved) store.pin(markOf(nodeOf(event)));
      dragged = null;
    });
    root.addEventListener("pointerdown", (event) => {
      const group = nodeOf(event);
      dragged = group && this.ground.movable ? { node: Number(group.dataset.node), moved: false } : null;
      if (!group) this.view.startPan(event);
    });
    root.addEventListener("pointermove", (event) => {
      if (!dragged || !event.buttons) return;
      const place = this.ground.places[dragged.node];
      const to = this.view.toDrawing(event);
      if (!dragged.moved && Math.hypot(to.x - place.x, to.y - place.y) < this.ground.radius) return;
      dragged.moved = true;
      Object.assign(place, to);
      this.nodes[dragged.node].firstElementChild?.replaceWith(this.ground.target(dragged.node));
      this.drawLines();
      this.drawMotifs();
      this.drawMark();
    });
    root.addEventListener("focus", () => {
      if (root.matches(":focus-visible")) store.point(markOf(this.nodes[this.current]));
    });
    root.addEventListener("blur", () => store.point(NOTHING));
    root.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        store.pin(markOf(this.nodes[this.current]));
      }
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!way) return;
      event.preventDefault();
      this.current = next(this.ground.places, this.store.content, this.current, way);
      store.point(markOf(this.nodes[this.current]));
    });
  }
}

/** Edges that a motif consists of, where edges play. */
function linesOf(content: Content, players: number[]): [number, number][] | undefined {
  const { ends } = content;
  return ends ? players.map((player) => ends[player]) : undefined;
}

/** Where edges play: the side of each edge of a motif, by its ends. */
function sidesOfLines(content: Content, motifs: Motif[]): Map<string, string> {
  const lines = motifs.flatMap((motif) =>
    (linesOf(content, motif.players) ?? []).map(([i, j]): [string, string] => [
      `${Math.min(i, j)} ${Math.max(i, j)}`,
      motif.score >= 0 ? "for" : "against",
    ]),
  );
  return new Map(lines);
}

/** The nearest playing node in a direction; the same node where there is none. */
function next(places: Point[], content: Content, from: number, [right, down]: number[]): number {
  let best = from;
  let least = Infinity;
  places.forEach((place, node) => {
    const [x, y] = [place.x - places[from].x, place.y - places[from].y];
    const ahead = x * right + y * down;
    const aside = Math.abs(x * down) + Math.abs(y * right);
    const cost = ahead + 2 * aside;
    if (node !== from && content.owner[node] >= 0 && ahead > 0.5 && cost < least) [best, least] = [node, cost];
  });
  return best;
}

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "opacity", "font-size", "font-weight", "text-anchor", "dominant-baseline", "paint-order"];

/** Writes what style sheets say of an element into its copy. */
function writeStyles(original: Element, copy: Element): void {
  const computed = getComputedStyle(original);
  for (const name of STYLES) {
    const value = computed.getPropertyValue(name);
    if (value) copy.setAttribute(name, value.replace(/url\("?[^"#)]*(#[^")]*)"?\)/, "url($1)"));
  }
  copy.removeAttribute("style");
}

/** A line with a slight bend, so that it does not hide an edge. */
function bow(from: Point, to: Point): string {
  const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  const [bendX, bendY] = [0.18 * (to.y - from.y), 0.18 * (from.x - to.x)];
  return `M${from.x} ${from.y}Q${x + bendX} ${y + bendY} ${to.x} ${to.y}`;
}

function badgeOf(text: string, at: Point, side: string): SVGElement {
  const width = 12 + 7.5 * text.length;
  return svg(
    "g",
    { class: `badge-mark ${side}`, transform: `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})` },
    svg("g", {}, svg("rect", { x: -width / 2, y: -9.5, width, height: 19, rx: 9.5 }), svg("text", {}, text)),
  );
}

/** Patterns that all drawings of the page share; a drawing that is hidden could lend none. */
export function addPatterns(): void {
  const defs = svg("defs", { id: "patterns" }, hatch("hatch", 7, 2.2), hatch("hatch-bar", 5, 1.6));
  document.body.append(svg("svg", { class: "patterns", width: 0, height: 0, "aria-hidden": "true" }, defs));
}

function hatch(id: string, size: number, line: number): SVGPatternElement {
  const pattern = svg("pattern", {
    id,
    width: size,
    height: size,
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)",
  });
  const stripe = svg("rect", { width: line, height: size, class: "stripe" });
  set(pattern, { class: "hatching" });
  pattern.append(stripe);
  return pattern;
}
