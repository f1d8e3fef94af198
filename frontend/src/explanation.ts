// The page of one explanation.

import { bars } from "./bars";
import { readContent, type Content } from "./content";
import { controls, proof } from "./controls";
import { byId } from "./dom";
import { graphGround } from "./graph";
import type { Ground } from "./ground";
import { heatMap } from "./heatmap";
import { imageGround } from "./image";
import { legend } from "./legend";
import { moleculeGround } from "./molecule";
import { readout } from "./readout";
import { sentenceGround } from "./sentence";
import { Stage } from "./stage";
import { NOTHING, Store } from "./store";
import { table } from "./table";

function groundOf(content: Content, motifs: number[][], asked: boolean): Ground {
  const { drawing } = content;
  switch (drawing.kind) {
    case "molecule":
      return moleculeGround(content, drawing);
    case "sentence":
      return sentenceGround(content, drawing);
    case "image":
      return imageGround(content, drawing);
    case "graph":
      return graphGround(content, motifs, asked);
  }
}

function main(): void {
  const content = readContent();
  const store = new Store(content);
  const nodesOfMotifs = () => store.motifs.map((motif) => motif.players.flatMap((player) => content.members[player]));
  const stage = new Stage(store, groundOf(content, nodesOfMotifs(), false), byId("stage"));
  const arranged = () => groundOf(content, nodesOfMotifs(), true);
  byId("tools").append(...stage.tools(content.drawing.kind === "graph" ? arranged : null));
  readout(store, byId("readout"));
  legend(byId("legend"));
  bars(store, byId("bars"));
  proof(store, byId("proof"));
  controls(store, byId("controls"));
  table(store, byId("table"));
  if (content.pairs) heatMap(store, content.pairs, byId("map"));
  else byId("map-card").remove();
  document.addEventListener("keydown", (event) => event.key === "Escape" && store.pin(NOTHING));
  document.documentElement.classList.add("ready");
}

main();
