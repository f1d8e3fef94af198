// What the signs of the drawing mean.

import type { Content } from "./content";
import { html, svg } from "./dom";

const TYPE_COLOURS = 6; // as many as the style sheet has

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
    html("span", {}, swatch("for"), `for ${content.target} `, html("b", { class: "for" }, "+")),
    html("span", {}, swatch("against"), `against ${content.target} `, html("b", { class: "against" }, "−")),
  );
  if (content.explained.length) {
    const what = content.explained.length === 1 ? `explained ${content.words.node}` : "explained link";
    container.append(html("span", {}, ring("explained-ring"), what));
  }
  (content.drawing.kinds ?? []).forEach((kind, number) => {
    const dot = svg("circle", { cx: 7, cy: 7, r: 5.5, class: `type-${number % TYPE_COLOURS}` });
    container.append(html("span", { class: "kind" }, svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, dot), kind));
  });
  if (content.truth.length) container.append(html("span", {}, ring("truth-ring"), "ground truth"));
  container.append(html("span", { class: "faint" }, "stronger motifs are darker"));
}
