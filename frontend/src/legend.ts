// What the signs of the drawing mean.

import { html, svg } from "./dom";

export function legend(container: HTMLElement): void {
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
  container.append(
    html("span", {}, swatch("for"), html("b", { class: "for" }, "+"), " speaks for the prediction"),
    html("span", {}, swatch("against"), html("b", { class: "against" }, "−"), " speaks against it"),
    html("span", { class: "faint" }, "stronger motifs are darker"),
  );
}
