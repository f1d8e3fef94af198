// Bundles the scripts and styles of the pages into the Python package: `npm ci && npm run build`.
// What is bundled keeps its licence: the texts go into LICENSES.txt and into the head of the script itself.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, "..", "src", "mage", "report", "assets");

const result = await build({
  absWorkingDir: here,
  entryPoints: ["src/explanation.ts"],
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: "iife",
  target: ["es2022"],
  charset: "utf8",
  legalComments: "none", // whole licence texts follow instead
});

const packages = [
  ...new Set(
    Object.keys(result.metafile.inputs)
      .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
      .filter(Boolean),
  ),
].sort();

const licences = packages.map((name) => {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (license !== "MIT") throw new Error(`${name} is under ${license}, not MIT; check before bundling it`);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  // One line per paragraph, whatever width each library wraps its text at.
  const paragraphs = readFileSync(join(folder, file), "utf8").trim().split(/\n\s*\n/);
  const text = paragraphs.map((paragraph) => paragraph.trim().replace(/\s*\n\s*/g, " ")).join("\n");
  return `${name} ${version}\n${text}\n`;
});
const notice = packages.length
  ? `The script of the pages contains these libraries.\n\n${licences.join("\n")}`
  : "The script of the pages contains no library of others.";
if (notice.includes("*/")) throw new Error("a licence text cannot stand in a comment");

const script = result.outputFiles[0].text;
// A test compares this with the sources, so that nobody forgets to build.
const digest = createHash("sha256");
for (const file of readdirSync(join(here, "src")).sort()) digest.update(readFileSync(join(here, "src", file)));
writeFileSync(join(assets, "explanation.js"), `/*!\n${notice}\nsources: ${digest.digest("hex")}\n*/\n${script}`);
if (packages.length) writeFileSync(join(assets, "LICENSES.txt"), notice);
else rmSync(join(assets, "LICENSES.txt"), { force: true });
const style = await transform(readFileSync(join(here, "src", "explanation.css"), "utf8"), { loader: "css", minify: true });
writeFileSync(join(assets, "explanation.css"), style.code);
console.log(`${packages.join(", ") || "no libraries"}: ${(script.length / 1024).toFixed(0)} KB`);
