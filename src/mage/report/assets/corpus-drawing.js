"use strict";
/* Small drawings of graphs, molecules, sentences and patterns, built from plain numbers. */
const Drawing = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  function shape(tag, attributes, parent) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (parent) parent.append(made);
    return made;
  }

  function sentence(scene, motifs, label) {
    const box = document.createElement("p");
    box.className = "sentence";
    box.setAttribute("aria-label", label);
    const side = new Map();
    for (const motif of motifs) for (const v of motif.nodes) side.set(v, motif.score < 0 ? "against" : "for");
    scene.names.forEach((name, v) => {
      const word = document.createElement(side.has(v) ? "mark" : "span");
      word.textContent = name;
      if (side.has(v)) word.className = side.get(v);
      box.append(word, " ");
    });
    return box;
  }

  /* Lines of a bond: one, two or three beside each other; 4 stands for an aromatic bond. */
  function bond(parent, x1, y1, x2, y2, order) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ox, oy] = [-(y2 - y1) / length, (x2 - x1) / length];
    const offsets = { 2: [-3.5, 3.5], 3: [-6, 0, 6], 4: [-3.5, 3.5] }[order] || [0];
    offsets.forEach((offset, rank) => {
      const line = { x1: x1 + offset * ox, y1: y1 + offset * oy, x2: x2 + offset * ox, y2: y2 + offset * oy };
      if (order === 4 && rank === 1) line["stroke-dasharray"] = "5 4";
      shape("line", line, parent);
    });
  }

  function halo(parent, scene, place, motif) {
    const inside = new Set(motif.nodes);
    const group = shape("g", { class: motif.score < 0 ? "halo against" : "halo for" }, parent);
    for (const [i, j] of scene.edges) {
      if (inside.has(scene.nodes ? scene.nodes[i] : i) && inside.has(scene.nodes ? scene.nodes[j] : j)) {
        shape("line", { x1: scene.x[i], y1: scene.y[i], x2: scene.x[j], y2: scene.y[j] }, group);
      }
    }
    for (const v of motif.nodes) {
      const at = place.get(v);
      if (at !== undefined) shape("circle", { cx: scene.x[at], cy: scene.y[at], r: 13 }, group);
    }
  }

  /* The drawing of a scene; options: motifs, truth, large, label. */
  function draw(scene, { motifs = [], truth = [], large = false, label = "" } = {}) {
    if (scene.sentence) return sentence(scene, motifs, label);
    const numbers = scene.nodes || scene.names.map((_, v) => v);
    const place = new Map(numbers.map((v, at) => [v, at]));
    const marked = new Set(motifs.flatMap((motif) => motif.nodes));
    // Hydrogens that no motif holds only hide the rest of a small picture.
    const shown = scene.names.map((name, at) => large || !scene.chemical || name !== "H" || !motifs.length || marked.has(numbers[at]));
    const xs = scene.x.filter((_, at) => shown[at]);
    const ys = scene.y.filter((_, at) => shown[at]);
    const [left, top, margin] = [Math.min(...xs), Math.min(...ys), 20];
    // Few nodes are not blown up to the size of many.
    const width = Math.max(Math.max(...xs) - left, large ? 200 : 90);
    const height = Math.max(Math.max(...ys) - top, large ? 120 : 60);
    const [midX, midY] = [(Math.max(...xs) + left) / 2, (Math.max(...ys) + top) / 2];
    const svg = shape("svg", {
      viewBox: [midX - width / 2 - margin, midY - height / 2 - margin, width + 2 * margin, height + 2 * margin].join(" "),
      role: "img", "aria-label": label, class: "drawing",
    });
    for (const motif of motifs) halo(svg, scene, place, motif);
    const degree = new Array(numbers.length).fill(0);
    for (const [i, j] of scene.edges) { degree[i] += 1; degree[j] += 1; }
    const written = scene.names.map((name, at) =>
      scene.chemical ? name !== "C" || degree[at] === 0 : large && !/^\d*$/.test(name) && numbers.length <= 60);
    // Bonds stop short of letters.
    const room = scene.names.map((name, at) => (scene.chemical && written[at] ? (name === "H" ? 8 : 11) : 0));
    const bonds = shape("g", { class: "bonds" }, svg);
    for (const [i, j, order] of scene.edges) {
      if (!shown[i] || !shown[j]) continue;
      const [dx, dy] = [scene.x[j] - scene.x[i], scene.y[j] - scene.y[i]];
      const length = Math.hypot(dx, dy) || 1;
      const ends = [scene.x[i] + (dx * room[i]) / length, scene.y[i] + (dy * room[i]) / length,
        scene.x[j] - (dx * room[j]) / length, scene.y[j] - (dy * room[j]) / length];
      bond(bonds, ...ends, order);
    }
    const nodes = shape("g", { class: "nodes" }, svg);
    scene.names.forEach((name, at) => {
      if (!shown[at]) return;
      if (!scene.chemical) shape("circle", { cx: scene.x[at], cy: scene.y[at], r: 7, class: "dot" }, nodes);
      if (!written[at]) return;
      shape("text", { x: scene.x[at], y: scene.y[at], class: name === "H" ? "small" : "" }, nodes).textContent = name;
    });
    const rings = shape("g", { class: "truth" }, svg);
    for (const v of truth) {
      if (place.has(v)) shape("circle", { cx: scene.x[place.get(v)], cy: scene.y[place.get(v)], r: 17 }, rings);
    }
    return svg;
  }

  /* Drawings are made when they come into view. */
  const waiting = new WeakMap();
  const seen = new IntersectionObserver((changes) => {
    for (const change of changes) if (change.isIntersecting) finish(change.target);
  }, { rootMargin: "300px" });

  function finish(box) {
    const make = waiting.get(box);
    if (!make) return;
    waiting.delete(box);
    seen.unobserve(box);
    box.append(make());
  }

  function later(box, make) {
    box.classList.add("picture");
    waiting.set(box, make);
    seen.observe(box);
    return box;
  }

  addEventListener("beforeprint", () => document.querySelectorAll(".picture").forEach(finish));
  return { draw, later };
})();
