"use strict";
/* The corpus page: what recurs in motifs, the table of graphs with its filters, and the details of one graph. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent).corpus;
  const find = (id) => document.getElementById(id);
  const { graphs, patterns, sections, classes } = data;

  /* Text is only ever set as text, so nothing that a file holds becomes markup. */
  function element(tag, { text, ...attributes } = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== undefined && value !== null) made.setAttribute(name, value);
    }
    if (text !== undefined) made.textContent = text;
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  const className = (target) => (target === null ? "regression" : classes[target]);
  const digits = (value, count = 3) => (value === null || value === undefined ? "–" : value.toLocaleString("en", { maximumSignificantDigits: count }));
  const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + digits(Math.abs(value));
  const patternName = (pattern) => pattern.name || pattern.text;
  /* Forms of one group of atoms share its name; their formulas tell them apart. */
  const shortName = (pattern) => (pattern.chemical ? pattern.text : patternName(pattern));
  const side = (score) => (score < 0 ? "against" : "for");
  const percent = (part, whole) => `${Math.round((100 * part) / whole)} %`;
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  graphs.forEach((graph, place) => {
    graph.place = place;
    graph.strongest = graph.motifs.reduce((best, motif) => (Math.abs(motif.score) > Math.abs(best) ? motif.score : best), 0);
    graph.size = graph.motifs.reduce((sum, motif) => sum + motif.nodes.length, 0);
    graph.found = graph.motifs.map((motif) => patternName(patterns[motif.pattern])).join(", ");
  });

  /* ---- drawings ---------------------------------------------------------------------------------------------- */

  /* Python made them, and nothing that a file holds can be markup in them; the page's policy allows no script either. */
  function drawing(markup, label) {
    const made = document.importNode(new DOMParser().parseFromString(markup, "text/html").querySelector("svg"), true);
    made.setAttribute("aria-label", label);
    return made;
  }

  const blocks = [];

  /* Drawings of graphs are compressed in blocks, which are unpacked when one of them is needed. */
  function unpacked(place) {
    const number = Math.floor(place / data.block);
    blocks[number] ??= (async () => {
      const bytes = Uint8Array.from(atob(data.drawings[number]), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      return JSON.parse(await new Response(stream).text());
    })();
    return blocks[number].then((texts) => texts[place % data.block]);
  }

  const waiting = new Map();
  const inView = new IntersectionObserver((changes) => {
    for (const change of changes) if (change.isIntersecting) finish(change.target);
  }, { rootMargin: "300px" });

  function finish(box) {
    const make = waiting.get(box);
    waiting.delete(box);
    inView.unobserve(box);
    if (make) box.append(make());
  }

  /* A box whose drawing is made when it comes into view. */
  function later(box, make) {
    waiting.set(box, make);
    inView.observe(box);
    return box;
  }

  function patternBox(pattern, kind = "") {
    const box = element("div", { class: `picture ${kind}${pattern.wide ? " wide" : ""}` });
    return later(box, () => drawing(pattern.drawing, patternName(pattern)));
  }

  function graphBox(graph, box) {
    box.classList.add("picture");
    if (graph.wide) box.classList.add("wide");
    unpacked(graph.place).then((markup) => later(box, () => drawing(markup, `${title(graph)}: ${graph.found || "no motif"}`)));
    return box;
  }

  addEventListener("beforeprint", () => [...waiting.keys()].filter((box) => box.isConnected).forEach(finish));

  const title = (graph) => (/^\d+$/.test(graph.name) ? `Graph ${graph.name}` : graph.name);

  /* ---- what recurs ------------------------------------------------------------------------------------------- */

  function core(section, item) {
    const pattern = patterns[item.pattern];
    const picture = patternBox(pattern);
    const facts = element("div", { class: "facts" },
      element("h4", {},
        element("span", { text: patternName(pattern) }),
        pattern.name ? element("span", { class: "formula", text: pattern.text }) : null),
      meter(item.graphs.length, section.total, side(section.sign)),
      element("p", {}, element("strong", { text: `${item.graphs.length} of ${plural(section.total, "graph")}` }),
        ` (${percent(item.graphs.length, section.total)})`),
      element("p", { class: "soft", text: `chosen in ${item.graphs.length} of the ${item.present} with it` }),
      element("p", { class: "soft", text: `mean score ${signed(item.mean)}${item.spread === null ? "" : ` (spread ${digits(item.spread, 2)})`}` }));
    for (const other of item.elsewhere) {
      facts.append(element("p", { class: "soft", text:
        `${other.sign < 0 ? "against" : "for"} ${className(other.target)}: ${other.count} of ${other.total}` }));
    }
    if (item.forms.length) {
      const listed = item.forms.map((form) => `${shortName(patterns[form.pattern])} (${form.count})`).join(", ");
      facts.append(element("p", { class: "faint", text: `other forms: ${listed}` }));
    }
    facts.append(element("p", { class: "faint examples" }, "for example ", ...links(item.graphs.slice(0, 4))));
    facts.append(filterButton(item, `Show the ${plural(item.graphs.length, "graph")}`));
    return element("article", { class: `card core ${side(section.sign)}-side` }, picture, facts);
  }

  function meter(part, whole, kind) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of Object.entries({ viewBox: "0 0 100 6", class: `meter ${kind}`, preserveAspectRatio: "none", "aria-hidden": "true" })) svg.setAttribute(name, value);
    for (const [kindOf, width] of [["track", 100], ["value", (100 * part) / whole]]) {
      const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      for (const [name, value] of Object.entries({ width, height: 6, class: kindOf })) bar.setAttribute(name, value);
      svg.append(bar);
    }
    return svg;
  }

  const links = (places) => places.flatMap((place, rank) => [rank ? ", " : "", element("a", { href: `#row-${place + 1}`, text: graphs[place].name })]);

  function filterButton(item, text) {
    return element("button", { type: "button", class: "screen-only", text, onclick: () => {
      state.only = { places: new Set(item.graphs), name: patternName(patterns[item.pattern]) };
      state.page = 0;
      show();
      find("graphs").scrollIntoView();
    } });
  }

  function wholeTable(section) {
    const rows = section.motifs.map((item) => {
      const pattern = patterns[item.pattern];
      return element("tr", {},
        element("td", {}, patternBox(pattern, "tiny")),
        element("td", {}, element("strong", { text: patternName(pattern) }),
          element("div", { class: "faint", text: [pattern.name ? pattern.text : "", pattern.smiles].filter(Boolean).join("  ·  ") })),
        element("td", { class: "number", text: String(item.count) }),
        element("td", { class: "number", text: String(new Set(item.graphs).size) }),
        element("td", { class: "number", text: signed(item.mean) }),
        element("td", {}, ...links(item.graphs.slice(0, 4))));
    });
    const heads = ["", "motif", "times", "graphs", "mean score", "for example"];
    const head = element("tr", {}, ...heads.map((text, at) => element("th", { scope: "col", text, class: at > 1 && at < 5 ? "number" : undefined })));
    const body = element("tbody", {}, ...rows.slice(0, 6));
    const more = element("button", { type: "button", class: "screen-only", text: `All ${rows.length} motifs`, onclick: () => { body.append(...rows); more.remove(); } });
    return element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), body), rows.length > 6 ? more : null);
  }

  function block(section) {
    const against = section.sign < 0;
    const cards = element("div", { class: "cores" });
    const order = element("select", { onchange: () => fill() },
      element("option", { value: "rank", text: "most consistent first" }),
      element("option", { value: "graphs", text: "most graphs first" }));
    const fill = () => cards.replaceChildren(...[...section.cores]
      .sort((a, b) => (order.value === "rank" ? b.rank - a.rank : b.graphs.length - a.graphs.length))
      .map((item) => core(section, item)));
    fill();
    const none = element("p", { class: "soft", text: `No piece recurs in ${section.least} or more of these graphs.` });
    return element("div", { class: "block" },
      element("h3", { class: against ? "against" : "for", text: `${against ? "Against" : "For"} ${className(section.target)} ${against ? "−" : "+"}` }),
      element("div", { class: "bar" },
        element("p", { class: "soft", text: `Recurring cores in the motifs of ${plural(section.total, "graph")}` }),
        section.cores.length > 1 ? element("label", { class: "screen-only" }, "order ", order) : null),
      section.cores.length ? cards : none,
      section.complete ? null : element("p", { class: "faint", text: "Some motifs are too large to be cut into all of their pieces; larger cores may be missing." }),
      element("p", { class: "soft above", text: "Whole motifs, equal up to isomorphism" }),
      wholeTable(section));
  }

  function recurring() {
    const targets = [...new Set(sections.map((section) => section.target))];
    const panels = targets.map((target) => element("div", { class: "panel", role: "tabpanel", id: `panel-${target}` },
      ...sections.filter((section) => section.target === target).map(block)));
    const tabs = targets.map((target, at) => {
      const count = graphs.filter((graph) => graph.target === target).length;
      return element("button", { type: "button", role: "tab", "aria-controls": `panel-${target}`, text: `${className(target)} (${count})`, onclick: () => select(at) });
    });
    const select = (chosen) => tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", String(at === chosen));
      tab.tabIndex = at === chosen ? 0 : -1;
      panels[at].hidden = at !== chosen;
    });
    const row = element("div", { class: "tabs screen-only", role: "tablist", "aria-label": "Explained class", onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length;
      select(next);
      tabs[next].focus();
    } }, ...tabs);
    select(0);
    find("recurring").append(...(targets.length > 1 ? [row] : []), ...panels);
    if (!targets.length) find("recurring").append(element("p", { text: "No motif was found in any graph." }));
  }

  /* ---- the table of graphs ----------------------------------------------------------------------------------- */

  const state = { key: "place", down: false, page: 0, rows: 50, only: null };
  const columns = [
    { key: "place", text: "graph", cell: (graph) => element("a", { href: `#row-${graph.place + 1}`, text: graph.name }) },
    { key: null, text: "", cell: (graph) => graphBox(graph, element("a", { class: "thumb", href: `#row-${graph.place + 1}`, tabindex: "-1", "aria-hidden": "true" })) },
    { key: "target", text: "explained", cell: (graph) => className(graph.target) },
    { key: "label", text: "true", cell: (graph) => (graph.label === null ? "–" : className(graph.label)) },
    { key: "right", text: "prediction", cell: (graph) => outcome(graph) },
    { key: "probability", text: data.regression ? "output" : "probability", number: true, cell: (graph) => digits(graph.probability ?? graph.value) },
    { key: "found", text: "motifs", cell: (graph) => graph.found || "none" },
    { key: "strongest", text: "score", number: true, cell: (graph) => element("span", { class: side(graph.strongest), text: signed(graph.strongest) }) },
    { key: "size", text: "motif nodes", number: true, cell: (graph) => String(graph.size) },
    { key: "nodes", text: "nodes", number: true, cell: (graph) => String(graph.nodes) },
    { key: "f1", text: "F1", number: true, cell: (graph) => digits(graph.f1) },
    { key: "queries", text: "queries", number: true, cell: (graph) => digits(graph.queries, 9) },
    { key: "optimal", text: "proof", cell: (graph) => (graph.optimal ? "optimal\u00a0✓" : graph.proof) },
    { key: "source", text: "source", cell: (graph) => graph.source },
  ].filter(({ key }) => key === "source" ? data.sources.length > 1 : !["f1", "label", "right"].includes(key) || graphs.some((graph) => (graph[key] ?? null) !== null));

  function outcome(graph) {
    if (graph.right === null) return "–";
    return element("span", { class: graph.right ? "" : "wrong", text: graph.right ? "right\u00a0✓" : "wrong\u00a0✗" });
  }

  const form = find("filters");

  function chosen() {
    const wanted = new FormData(form);
    const words = wanted.get("text").trim().toLowerCase();
    const least = wanted.get("score") === "" ? null : Number(wanted.get("score"));
    const [from, to] = [Number(wanted.get("from") || 0), Number(wanted.get("to") || Infinity)];
    return graphs.filter((graph) =>
      (wanted.get("target") === "" || graph.target === Number(wanted.get("target"))) &&
      (wanted.get("label") === "" || graph.label === Number(wanted.get("label"))) &&
      (wanted.get("right") === "" || String(graph.right) === wanted.get("right")) &&
      (least === null || Math.abs(graph.strongest) >= least) &&
      graph.nodes >= from && graph.nodes <= to &&
      (!state.only || state.only.places.has(graph.place)) &&
      (!words || `${graph.name} ${graph.found} ${graph.file} ${graph.source}`.toLowerCase().includes(words)));
  }

  function compare(first, second) {
    const [a, b] = [first[state.key], second[state.key]];
    if (a === b || (a ?? null) === (b ?? null)) return first.place - second.place;
    // What is not known comes last in either direction.
    if (a === null || a === undefined) return 1;
    if (b === null || b === undefined) return -1;
    return (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b) * (state.down ? -1 : 1);
  }

  let listed = [];

  function show() {
    listed = chosen().sort(compare);
    const pages = Math.max(1, Math.ceil(listed.length / state.rows));
    state.page = Math.min(state.page, pages - 1);
    const part = listed.slice(state.page * state.rows, (state.page + 1) * state.rows);
    find("rows").replaceChildren(...part.map((graph) => element("tr", { "data-place": graph.place },
      ...columns.map((column) => element("td", { class: column.number ? "number" : undefined, "data-column": column.key }, column.cell(graph))))));
    find("count").textContent = listed.length === graphs.length ? plural(graphs.length, "graph") : `${listed.length} of ${plural(graphs.length, "graph")}`;
    find("page").textContent = `page ${state.page + 1} of ${pages}`;
    find("before").disabled = state.page === 0;
    find("after").disabled = state.page === pages - 1;
    find("pager").hidden = graphs.length <= 25;
    find("only").hidden = !state.only;
    find("only").textContent = state.only ? `with ${state.only.name} ✕` : "";
  }

  function header() {
    const heads = columns.map((column) => {
      if (column.key === null) return element("th", { scope: "col" }, element("span", { class: "unseen", text: "drawing" }));
      const head = element("th", { scope: "col", class: column.number ? "number" : undefined },
        element("button", { type: "button", text: column.text, onclick: () => {
          state.down = state.key === column.key ? !state.down : Boolean(column.number);
          state.key = column.key;
          state.page = 0;
          for (const other of find("head").children) other.removeAttribute("aria-sort");
          head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
          show();
        } }));
      return head;
    });
    find("head").append(...heads);
  }

  function options() {
    for (const [name, key] of [["target", "target"], ["label", "label"]]) {
      const values = [...new Set(graphs.map((graph) => graph[key]))].filter((value) => value !== null).sort((a, b) => a - b);
      form.elements[name].append(...values.map((value) => element("option", { value, text: className(value) })));
      form.elements[name].parentElement.hidden = values.length < 2;
    }
    form.elements.right.parentElement.hidden = graphs.every((graph) => graph.right === null);
    form.addEventListener("input", () => { state.page = 0; show(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => { state.only = null; state.page = 0; show(); }));
    find("only").addEventListener("click", () => { state.only = null; show(); });
    find("before").addEventListener("click", () => { state.page -= 1; show(); });
    find("after").addEventListener("click", () => { state.page += 1; show(); });
    find("many").addEventListener("change", (event) => { state.rows = Number(event.target.value) || Infinity; state.page = 0; show(); });
  }

  /* ---- one graph --------------------------------------------------------------------------------------------- */

  const dialog = find("details");

  function details(graph) {
    const motifs = graph.motifs.map((motif) => {
      const pattern = patterns[motif.pattern];
      return element("tr", {},
        element("td", { class: `${side(motif.score)} side`, text: motif.score < 0 ? "against −" : "for +" }),
        element("td", { class: "number", text: signed(motif.score) + (motif.error ? ` ± ${digits(motif.error, 2)}` : "") }),
        element("td", {}, element("strong", { text: patternName(pattern) }), pattern.name ? ` ${pattern.text}` : ""),
        element("td", { class: "soft", text: motif.nodes.join(", ") }));
    });
    const head = element("tr", {}, ...["", "score", "motif", "nodes"].map((text) => element("th", { scope: "col", text })));
    const facts = [
      ["explained", graph.target === null ? `prediction ${digits(graph.value)}` : `${className(graph.target)}, probability ${digits(graph.probability)}`],
      ["true class", graph.label === null ? "not known" : `${className(graph.label)}: the prediction is ${graph.right ? "right" : "wrong"}`],
      ["index", graph.how],
      ["cost", `${digits(graph.queries, 9)} runs of the model, ${digits(graph.seconds)} s`],
      ["motifs", graph.proof],
      ["ground truth", graph.f1 !== undefined ? `dotted rings; F1 of the nodes ${digits(graph.f1)}` : null],
      ["drawn", graph.drawn ? `${graph.drawn} of ${graph.nodes} nodes, those around the motifs` : null],
      ["file", graph.file],
    ].filter(([, value]) => value !== null);
    find("details-body").replaceChildren(
      element("h2", { id: "details-title", text: title(graph) + (graph.source && data.sources.length > 1 ? ` (${graph.source})` : "") }),
      graphBox(graph, element("div", { class: "large" })),
      motifs.length ? element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...motifs)))
        : element("p", { text: "No motif was found." }),
      element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", { text: name }), element("dd", { text: value })])));
  }

  function follow() {
    const match = /^#row-(\d+)$/.exec(location.hash);
    const graph = match ? graphs[Number(match[1]) - 1] : undefined;
    if (!graph) { if (dialog.open) dialog.close(); return; }
    details(graph);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }

  function step(by) {
    const match = /^#row-(\d+)$/.exec(location.hash);
    const order = listed.length ? listed : graphs;
    const at = order.findIndex((graph) => match && graph.place === Number(match[1]) - 1);
    const next = order[(at + by + order.length) % order.length];
    history.replaceState(null, "", `#row-${next.place + 1}`);
    follow();
  }

  function browsing() {
    addEventListener("hashchange", follow);
    dialog.addEventListener("close", () => { if (location.hash) history.replaceState(null, "", location.pathname + location.search); });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "ArrowRight") step(1);
      if (event.key === "ArrowLeft") step(-1);
    });
    find("next").addEventListener("click", () => step(1));
    find("previous").addEventListener("click", () => step(-1));
    find("close").addEventListener("click", () => dialog.close());
  }

  recurring();
  header();
  options();
  browsing();
  show();
  follow();
})();
