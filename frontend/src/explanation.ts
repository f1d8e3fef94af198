// The page of one explanation, of one with several classes to choose from, or of two side by side.

import { readContents } from "./content";
import { byId, html, set } from "./dom";
import { linkTo, readLink, type View } from "./link";
import { fillPanel } from "./panel";
import { addPatterns } from "./stage";
import { NOTHING, Store } from "./store";

function main(): void {
  const { contents, sideBySide } = readContents();
  const stores = contents.map((content) => new Store(content));
  const suffixes = contents.map((_, which) => (which ? `-${which + 1}` : ""));
  const filled = contents.map(() => false);
  const linked = readLink();
  let shown = linked.shown < contents.length ? linked.shown : 0;
  stores.forEach((store, which) => store.chooseValues(linked.settings[which]));

  const fill = (which: number) => {
    if (!filled[which]) fillPanel(contents[which], stores[which], suffixes[which]);
    filled[which] = true;
  };
  const view = (): View => ({ shown, settings: stores.map((store) => (store.atStart ? null : store.values)) });
  const remember = () => linkTo(view());

  addPatterns();
  document.documentElement.classList.add("ready");
  if (sideBySide) {
    contents.forEach((_, which) => fill(which));
  } else if (contents.length > 1) {
    const buttons = contents.map((content, which) => {
      const button = html("button", { type: "button", class: "choice" }, content.name);
      button.addEventListener("click", () => {
        show(which);
        remember();
      });
      return button;
    });
    const show = (which: number) => {
      shown = which;
      suffixes.forEach((suffix, at) => {
        for (const name of ["explanation", "prediction"]) set(byId(name + suffix), { hidden: at !== which });
        set(buttons[at], { "aria-pressed": String(at === which) });
      });
      byId("title").textContent = contents[which].title;
      fill(which);
    };
    byId("switch").append(html("span", { class: "soft" }, "Explained:"), ...buttons);
    show(shown);
  } else {
    fill(0);
  }
  stores.forEach((store) => store.onChoice(remember));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") stores.forEach((store) => store.pin(NOTHING));
  });
}

main();
