// One line that says what is marked; screen readers read it aloud.

import { html } from "./dom";
import { motifName, number, withError } from "./format";
import type { Store } from "./store";

const HINT = "Point at a node, a pair or a motif, or use the arrow keys, to see who acts with whom; click to keep it.";

export function readout(store: Store, line: HTMLElement): void {
  store.listenToMark(() => {
    line.classList.toggle("empty", store.mark.kind === "none");
    line.replaceChildren(...words(store));
  });
}

function words(store: Store): (Node | string)[] {
  const { content, mark } = store;
  const name = (player: number) => html("b", {}, content.players[player]);
  if (mark.kind === "player") {
    const { player } = mark;
    const own = [`: alone ${number(content.first[player], true)}, ${content.shareName} ${number(content.share[player], true)}`];
    const partners = content.pairs?.partners(player, 3) ?? [];
    const listed = partners.flatMap(({ player: partner, value }, place) => [
      place ? ", " : ". Strongest with ",
      name(partner),
      ` (${number(value, true)})`,
    ]);
    return [name(player), ...own, ...listed];
  }
  if (mark.kind === "pair" && content.pairs) {
    const [a, b] = mark.players;
    const [i, j] = mark.players.map((player) => content.pairs?.positionOf(player) ?? -1);
    const value = content.pairs.value(i, j);
    const what = value > 0 ? " together speak for it" : value < 0 ? " together speak against it" : " do not interact";
    const error = content.pairs.error(i, j);
    return [name(a), " and ", name(b), what, value ? `: ${withError(value, Number.isNaN(error) ? null : error)}` : ""];
  }
  if (mark.kind === "motif") {
    const motif = store.motifs[mark.rank];
    if (!motif) return [HINT];
    const names = motif.players.map((player) => content.players[player]).join(", ");
    const side = motif.score >= 0 ? "for" : "against";
    return [html("b", {}, `Motif ${motifName(mark.rank)}`), ` speaks ${side} it, ${withError(motif.score, motif.error)}: ${names}`];
  }
  return [HINT];
}
