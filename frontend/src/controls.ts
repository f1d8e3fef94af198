// The three sliders. Every setting was solved when the page was made; moving a slider looks its solution up.

import { html, set } from "./dom";
import { number } from "./format";
import type { Store } from "./store";

const AXES = [
  { id: "tau", symbol: "τ", label: "Which side", low: "only against", high: "only for" },
  { id: "count", symbol: "m", label: "Most motifs", low: "", high: "" },
  { id: "size", symbol: "M", label: "Most PLAYERS", low: "", high: "" },
] as const;

export function controls(store: Store, container: HTMLElement, suffix: string): void {
  const { grid } = store.content;
  if (!grid.complete) {
    container.append(
      html("p", { class: "faint" }, "These motifs were not found by a search that can be repeated here with other settings."),
    );
    return;
  }
  const label = (text: string) => text.replace("PLAYERS", store.content.words.players);
  const values = [grid.taus, grid.counts, grid.sizes];
  const sliders = AXES.map((axis, which) => {
    const id = axis.id + suffix;
    const input = html("input", { type: "range", id, min: 0, max: values[which].length - 1, step: 1 });
    const output = html("output", { for: id });
    const ends = axis.low ? [html("p", { class: "ends" }, html("span", {}, axis.low), html("span", {}, axis.high))] : [];
    container.append(
      html(
        "div",
        { class: "slider" },
        html("label", { for: id }, `${label(axis.label)} `, html("i", { class: "symbol" }, axis.symbol)),
        output,
        input,
        ...ends,
      ),
    );
    input.addEventListener("input", () => store.choose(which as 0 | 1 | 2, Number(input.value)));
    return { input, output, values: values[which] };
  });
  const reset = html("button", { type: "button", class: "plain" }, "Back to the first setting");
  reset.addEventListener("click", () => store.reset());
  const solved = grid.cells.filter((cell) => cell >= 0);
  const proven = solved.filter((cell) => store.content.solutions[cell].optimal).length;
  const word = grid.estimated ? "best for these estimates" : "proven optimal";
  const share = proven === solved.length ? `all of them ${word}` : `${proven} of them ${word}`;
  const floor = grid.noiseFloor ? ` Interactions of up to ${Math.round(1000 * grid.noiseFloor) / 10} % of the largest count as zero.` : "";
  container.append(
    reset,
    html("p", { class: "faint note" }, `${solved.length} setting${solved.length === 1 ? " was" : "s were"} solved when this page was made, ${share}.${floor}`),
  );

  store.listenToSolution(() => {
    sliders.forEach(({ input, output, values }, which) => {
      const position = store.setting[which];
      input.value = String(position);
      const both = which === 2 && store.atStart && grid.againstSize !== undefined && grid.againstSize !== values[position];
      output.textContent = both ? `${values[position]} for, ${grid.againstSize} against` : String(values[position]);
      set(input, { "aria-valuetext": output.textContent, disabled: values.length < 2 });
    });
    reset.disabled = store.atStart;
  });
}

/** One sentence on how good the shown motifs are. */
export function proof(store: Store, line: HTMLElement): void {
  store.listenToSolution(() => {
    const found = store.solution;
    if (!found) {
      line.textContent = `No motifs of this number and size hold all ${store.content.words.players} that must be in one.`;
      return;
    }
    if (!found.motifs.length) {
      line.textContent = "";
      return;
    }
    const against = found.against === undefined ? "" : ` for, ${number(found.against)} against`;
    const objective = `Objective ${number(found.objective)}${against}`;
    const bound = found.bound === null ? "" : `, at most ${number(found.bound)} is possible`;
    const proven = found.optimal && !store.content.grid.estimated;
    line.replaceChildren(
      found.optimal ? `${objective}: ${found.proof} for this setting` : `${objective}: not proven optimal${bound}`,
      html("span", { class: proven ? "seal proven" : "seal" }, proven ? " ✓" : " ≈"),
    );
  });
}
