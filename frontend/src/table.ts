// All players as a table that sorts by any column.

import { html, set } from "./dom";
import { motifName, number } from "./format";
import { NOTHING, type Store } from "./store";

const MOTIF = 1; // place of the column that settings change

interface Column {
  id: string;
  title: string;
  meaning: string;
  numeric: boolean;
  /** What to sort by; larger comes first in descending order. */
  key: (player: number) => number | string;
}

export function table(store: Store, container: HTMLElement): void {
  const { content } = store;
  let ranks = store.ranks;
  const motifKey = (player: number) => (ranks[player] < 0 ? 1e9 : ranks[player]);
  const partner = (player: number) => content.partners[player] ?? null;
  const columns: Column[] = [
    { id: "name", title: capital(content.words.player), meaning: "Name", numeric: false, key: (player) => content.players[player] },
    { id: "motif", title: "Motif", meaning: "The motif it is in: + for, − against", numeric: false, key: motifKey },
    // Under some maskings nothing does anything alone; a column of zeros says nothing.
    ...(content.first.some((value) => value !== 0)
      ? [{ id: "alone", title: "Alone", meaning: "First-order term: what it does on its own", numeric: true, key: (player: number) => content.first[player] }]
      : []),
    { id: "share", title: content.shareName, meaning: "Its share of everything it takes part in", numeric: true, key: (player) => content.share[player] },
  ];
  if (content.partners.length) {
    columns.push(
      { id: "partner", title: "Strongest partner", meaning: "What it interacts with most", numeric: false, key: (player) => content.players[partner(player)?.[0] ?? -1] ?? "" },
      { id: "with", title: "With it", meaning: "The interaction with the strongest partner", numeric: true, key: (player) => partner(player)?.[1] ?? 0 },
    );
  }
  let sorted = { column: MOTIF, descending: false };
  const heads = columns.map((column, which) => {
    const button = html("button", { type: "button", title: column.meaning }, column.title);
    button.addEventListener("click", () => {
      // Numbers are mostly wanted from the largest down, words from A on.
      const descending = sorted.column === which ? !sorted.descending : column.numeric;
      sorted = { column: which, descending };
      arrange();
    });
    return html("th", { scope: "col", class: `of-${column.id}${column.numeric ? " number" : ""}` }, button);
  });
  const rows = content.players.map((name, player) => row(store, columns, player, name));
  const body = html("tbody", {}, ...rows.map((entry) => entry.element));
  const widths = html("colgroup", {}, ...columns.map(({ id }) => html("col", { class: `column-${id}` })));
  container.append(html("table", {}, widths, html("thead", {}, html("tr", {}, ...heads)), body));

  /** Brings the rows into order. Those not named as moved are in order already, which saves most of the work. */
  function arrange(moved: number[] | null = null): void {
    const { key } = columns[sorted.column];
    const sign = sorted.descending ? -1 : 1;
    const order = content.players.map((_, player) => player).sort((a, b) => sign * compare(key(a), key(b)) || a - b);
    const first = body.querySelector("[tabindex='0']");
    if (first) set(first, { tabindex: -1 });
    if (moved) {
      moved.forEach((player) => rows[player].element.remove());
      let next = body.firstElementChild;
      for (const player of order) {
        const { element } = rows[player];
        if (element === next) next = next.nextElementSibling;
        else body.insertBefore(element, next);
      }
    } else {
      body.replaceChildren(...order.map((player) => rows[player].element));
    }
    set(rows[order[0]].element, { tabindex: 0 });
    heads.forEach((head, which) =>
      set(head, { "aria-sort": which === sorted.column && (sorted.descending ? "descending" : "ascending") }),
    );
  }

  body.addEventListener("keydown", (event) => moveFocus(event, body));
  store.listenToSolution(() => {
    ranks = store.ranks;
    const moved = rows.flatMap(({ motif }, player) => {
      const found = store.motifs[ranks[player]];
      const text = found ? `${motifName(ranks[player])} ${found.score >= 0 ? "+" : "−"}` : "";
      if (motif.textContent === text) return [];
      motif.textContent = text;
      motif.className = found ? (found.score >= 0 ? "for" : "against") : "";
      return [player];
    });
    if (sorted.column === MOTIF) arrange(heads[MOTIF].hasAttribute("aria-sort") ? moved : null);
  });
  store.listenToMark(() => {
    const marked = new Set(store.marked);
    rows.forEach(({ element }, player) => element.classList.toggle("marked", marked.has(player)));
  });
}

function row(store: Store, columns: Column[], player: number, name: string) {
  const motif = html("td");
  const cells = columns.map((column, which) => {
    if (which === MOTIF) return motif;
    const value = which === 0 ? name : column.key(player);
    const text = typeof value === "number" ? number(value, true) : value;
    return html("td", { class: `of-${column.id} ${column.numeric ? `number ${sideOf(value)}` : "name"}` }, text);
  });
  const element = html("tr", { "data-player": player, tabindex: -1 }, ...cells);
  const mark = { kind: "player", player } as const;
  element.addEventListener("pointerenter", () => store.point(mark));
  element.addEventListener("pointerleave", () => store.point(NOTHING));
  element.addEventListener("focus", () => store.point(mark));
  element.addEventListener("blur", () => store.point(NOTHING));
  element.addEventListener("click", () => store.pin(mark));
  return { element, motif };
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function sideOf(value: number | string): string {
  return typeof value !== "number" || value === 0 ? "" : value > 0 ? "for" : "against";
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

/** Arrow keys walk through the rows, of which only one lies on the way of the tab key. */
function moveFocus(event: KeyboardEvent, body: HTMLElement): void {
  const from = (event.target as Element).closest("tr");
  const steps: Record<string, Element | null | undefined> = {
    ArrowDown: from?.nextElementSibling,
    ArrowUp: from?.previousElementSibling,
    Home: body.firstElementChild,
    End: body.lastElementChild,
  };
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    (from as HTMLElement | null)?.click();
  }
  const to = steps[event.key];
  if (!to || !from) return;
  event.preventDefault();
  set(from, { tabindex: -1 });
  set(to, { tabindex: 0 });
  (to as HTMLElement).focus();
}
