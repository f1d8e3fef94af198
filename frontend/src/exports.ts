// What a reader can take away: the drawing as SVG and PNG, numbers as CSV and JSON, nodes and the link as text.

import { html } from "./dom";
import { motifName } from "./format";
import type { Stage } from "./stage";
import type { Store } from "./store";

const SHARPNESS = 3; // pixels of a PNG for one of the screen

export function exportButtons(store: Store, stage: Stage, status: HTMLElement): HTMLElement[] {
  const name = fileName(store.content.title);
  const noun = store.content.words.nodes;
  const button = (text: string, label: string, act: () => Promise<string> | string) => {
    const made = html("button", { type: "button", class: "tool", title: label, "aria-label": label }, text);
    made.addEventListener("click", async () => {
      status.textContent = await act();
    });
    return made;
  };
  const file = (ending: string, content: () => Promise<Blob> | Blob) => async () => {
    save(`${name}.${ending}`, await content());
    return `Saved ${name}.${ending}.`;
  };
  return [
    button("SVG", "Save the drawing as SVG", file("svg", () => new Blob([stage.standalone()], { type: "image/svg+xml" }))),
    button("PNG", "Save the drawing as PNG", file("png", () => picture(stage))),
    button("CSV", "Save the table as CSV", file("csv", () => new Blob([table(store)], { type: "text/csv" }))),
    button("JSON", "Save motifs and scores as JSON", file("json", () => new Blob([record(store)], { type: "application/json" }))),
    button(`Copy ${noun}`, `Copy the numbers of the ${noun} of the motifs`, () => copy(nodes(store), `the ${noun} of the motifs`)),
    button("Copy link", "Copy a link to this page with these settings", () => copy(location.href, "the link")),
  ];
}

/** Numbers of the nodes of each motif, as lists of lists that Python and JSON read. */
function nodes(store: Store): string {
  return JSON.stringify(store.motifs.map((motif) => numbers(store, motif.players)));
}

function numbers(store: Store, players: number[]): number[] {
  const { content } = store;
  return players.flatMap((player) => content.members[player].map((node) => content.numbers[node])).sort((a, b) => a - b);
}

function table(store: Store): string {
  const { content } = store;
  const ranks = store.ranks;
  const quoted = (value: string | number) => (/[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  const rows = content.players.map((name, player) => {
    const motif = ranks[player] < 0 ? "" : motifName(ranks[player]);
    const score = ranks[player] < 0 ? "" : store.motifs[ranks[player]].score;
    const partner = content.partners[player];
    const beside = partner ? [content.players[partner[0]], partner[1]] : ["", ""];
    return [name, numbers(store, [player]).join(" "), motif, score, content.first[player], content.share[player], ...beside];
  });
  const heads = [content.words.player, "nodes", "motif", "score of motif", "alone", content.shareName, "strongest partner", "with it"];
  return [heads, ...rows].map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

function record(store: Store): string {
  const { content, solution } = store;
  const [tau, num_motifs, max_nodes] = store.values;
  return JSON.stringify(
    {
      title: content.title,
      target: content.target,
      output: content.output,
      tau,
      num_motifs,
      max_nodes,
      motifs: store.motifs.map((motif, rank) => ({
        name: motifName(rank),
        nodes: numbers(store, motif.players),
        names: motif.players.map((player) => content.players[player]),
        score: motif.score,
        std_error: motif.error,
      })),
      objective: solution?.objective ?? null,
      bound: solution?.bound ?? null,
      optimal: solution?.optimal ?? false,
    },
    null,
    2,
  );
}

async function picture(stage: Stage): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(stage.standalone())}`;
  await image.decode();
  const canvas = html("canvas", { width: SHARPNESS * image.width, height: SHARPNESS * image.height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((finish, fail) => canvas.toBlob((blob) => (blob ? finish(blob) : fail(new Error("no picture"))), "image/png"));
}

function save(name: string, content: Blob): void {
  const link = html("a", { href: URL.createObjectURL(content), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Copies a text, also where the browser keeps the clipboard for pages that were loaded safely. */
async function copy(text: string, what: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = html("textarea", { class: "outside", "aria-hidden": "true" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) return `Could not copy ${what}: ${text}`;
  }
  return `Copied ${what}.`;
}

function fileName(title: string): string {
  const plain = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  return plain || "explanation";
}
