// One explanation on the page: its drawing, bars, settings, map and table.

import { bars } from "./bars";
import type { Content } from "./content";
import { controls, proof } from "./controls";
import { byId } from "./dom";
import { exportButtons } from "./exports";
import { graphGround } from "./graph";
import type { Ground } from "./ground";
import { heatMap } from "./heatmap";
import { imageGround } from "./image";
import { legend } from "./legend";
import { moleculeGround } from "./molecule";
import { readout } from "./readout";
import { sentenceGround } from "./sentence";
import { Stage } from "./stage";
import { Store } from "./store";
import { table } from "./table";

const GROUNDS = { graph: graphGround, molecule: moleculeGround, sentence: sentenceGround, image: imageGround };

const NARROW = 560; // pixels; a sentence is set in shorter lines there

export function groundOf(content: Content, room: number): Ground {
  const drawing = (room < NARROW && content.narrow) || content.drawing;
  return GROUNDS[drawing.kind](content, drawing);
}

/** Fills the panel whose elements end in `suffix`. */
export function fillPanel(content: Content, store: Store, suffix: string): void {
  const part = (name: string) => byId(name + suffix);
  const ground = () => groundOf(content, part("stage").clientWidth);
  const stage = new Stage(store, ground(), part("stage"));
  part("tools").append(...stage.tools(content.drawing.kind === "graph" ? ground : null));
  readout(store, part("readout"));
  legend(content, part("legend"));
  bars(store, part("bars"));
  proof(store, part("proof"));
  controls(store, part("controls"), suffix);
  table(store, part("table"));
  if (content.pairs) heatMap(store, content.pairs, part("map"));
  else part("map-card").remove();
  part("export").append(...exportButtons(store, stage, part("export-status")));
}
