// What the signs of the drawing mean.

import type { Content } from "./content";
import { html, svg } from "./dom";

export function legend(content: Content, container: HTMLElement): void {
  const swatch = (side: "for" | "against") => {
    const box = { x: 1, y: 1, width: 26, height: 14, rx: 7 };
    const drawn = svg(
      "svg",
      { width: 28, height: 16, "aria-hidden": "true" },
      svg("rect", { ...box, class: `region ${side}`, "fill-opacity": side === "for" ? 0.4 : 0.25 }),
    );
    if (side === "against") drawn.append(svg("rect", { ...box, fill: "url(#hatch-bar)" }));
    drawn.append(svg("rect", { ...box, class: `region-edge ${side}`, "stroke-width": 1.5 }));
    return drawn;
  };
  const ring = (name: string) =>
    svg("svg", { width: 18, height: 18, "aria-hidden": "true" }, svg("circle", { cx: 9, cy: 9, r: 7, class: name }));
  container.append(
    html("span", {}, swatch("for"), "speaks for it ", html("b", { class: "for" }, "+")),
    html("span", {}, swatch("against"), "speaks against it ", html("b", { class: "against" }, "−")),
  );
  if (content.explained.length) {
    const what = content.explained.length === 1 ? `explained ${content.words.node}` : "explained link";
    container.append(html("span", {}, ring("explained-ring"), what));
  }
  if (content.truth.length) container.append(html("span", {}, ring("truth-ring"), "ground truth"));
  container.append(html("span", { class: "faint" }, "stronger motifs are darker"));
}
