// One line that says what is marked; screen readers read it aloud.

import { html } from "./dom";
import { motifName, number, withError } from "./format";
import type { Store } from "./store";

export function readout(store: Store, line: HTMLElement): void {
  const { node, nodes } = store.content.words;
  const hint = `Point at ${article(node)}, a pair or a motif to see its interactions. Click to keep it. Arrow keys move between ${nodes}.`;
  store.listenToMark(() => {
    line.classList.toggle("empty", store.mark.kind === "none");
    line.replaceChildren(...words(store, hint));
  });
}

function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
}

function words(store: Store, hint: string): (Node | string)[] {
  const { content, mark } = store;
  const name = (player: number) => html("b", {}, content.players[player]);
  if (mark.kind === "player") {
    const { player } = mark;
    const alone = content.first.some((value) => value !== 0) ? `alone ${number(content.first[player], true)}, ` : "";
    const own = [`: ${alone}${content.shareName} ${number(content.share[player], true)}`];
    const partners = content.pairs?.partners(player, 3) ?? [];
    const listed = partners.flatMap(({ player: partner, value }, place) => [
      place ? ", " : ". Strongest with ",
      name(partner),
      ` (${number(value, true)})`,
    ]);
    const members = content.members[player];
    const note = members.length === 1 && content.notes.length ? [html("span", { class: "faint" }, ` ${content.notes[members[0]]}`)] : [];
    return [name(player), ...own, ...listed, ".", ...note];
  }
  if (mark.kind === "pair" && content.pairs) {
    const [a, b] = mark.players;
    const [i, j] = mark.players.map((player) => content.pairs?.positionOf(player) ?? -1);
    const value = content.pairs.value(i, j);
    const what = value > 0 ? " together are for it" : value < 0 ? " together are against it" : " do not interact";
    const error = content.pairs.error(i, j);
    return [name(a), " and ", name(b), what, value ? `: ${withError(value, Number.isNaN(error) ? null : error)}` : ""];
  }
  if (mark.kind === "motif") {
    const motif = store.motifs[mark.rank];
    if (!motif) return [hint];
    const names = motif.players.map((player) => content.players[player]).join(", ");
    const side = motif.score >= 0 ? "for" : "against";
    return [html("b", {}, `Motif ${motifName(mark.rank)}`), ` is ${side} it, ${withError(motif.score, motif.error)}: ${names}`];
  }
  return [hint];
}
