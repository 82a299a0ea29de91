/**
 * Diagrams of the documentation: Mermaid blocks, which the site shows as pictures that were drawn before. Drawing needs a browser,
 * building the site does not:
 *
 *     node deploy/site/diagrams.ts      draws what is new or has changed into docs/images/diagrams, and removes what is not used
 *
 * CHROMIUM names the browser; else it is `chromium`. Mermaid is fetched from npm once, this version and no other.
 */
import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cached } from "../build/cache.ts";
import { run } from "../build/run.ts";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
const folder = join(docs, "images/diagrams");
const mermaid = {
  version: "11.12.0",
  integrity: "sha512-ZudVx73BwrMJfCFmSSJT84y6u5brEoV8DOItdHomNLz32uBjNrelm7mg95X7g+C6UoQH/W6mBLGDEDv73JdxBg==",
};
/** Mermaid's own themes, by where they are shown. */
const themes = { light: "default", dark: "dark" } as const;
type Place = keyof typeof themes;

const block = /^```mermaid\n([\s\S]*?)^```$/gm;

/** The sources of the diagrams in a page. */
export function diagramsIn(text: string): readonly string[] {
  return [...text.matchAll(block)].map(([, source = ""]) => source);
}

/** The file that a diagram is drawn into, within docs/images/diagrams: named after what it shows, so that it is never out of date. */
export function fileOf(source: string, place: Place): string {
  return `${createHash("sha256").update(source).digest("hex").slice(0, 12)}-${place}.svg`;
}

/** Every file that pages need. */
export function filesFor(texts: readonly string[]): readonly string[] {
  const places = Object.keys(themes) as Place[];
  return [...new Set(texts.flatMap(diagramsIn).flatMap((source) => places.map((place) => fileOf(source, place))))].sort();
}

/** A page whose blocks are pictures: one for light pages, one for dark ones. `images` leads from the page to its pictures. */
export function withPictures(text: string, images: string): string {
  return text.replace(block, (_, source: string) =>
    (Object.keys(themes) as Place[])
      .map((place) => `![${inWords(source)}](${images}/diagrams/${fileOf(source, place)}){.only-${place}}`)
      .join("\n"),
  );
}

/** Which of the two is seen; on a narrow screen it can be moved, and stays large enough to be read. */
export const pictureStyle = `.dark .only-light, html:not(.dark) .only-dark { display: none; }
.vp-doc p:has(> .only-light) { overflow-x: auto; }
.vp-doc .only-light, .vp-doc .only-dark { max-width: max(100%, 38rem); }`;

/** What stands in a diagram, for who cannot see it. */
function inWords(source: string): string {
  const labels = [...source.matchAll(/"([^"]+)"|: (.+)$| as (.+)$/gm)].map(([, quoted, said, named]) => quoted ?? said ?? named ?? "");
  return `Diagram: ${labels.map((label) => label.replaceAll(/<br>/g, " ").replaceAll(/<\/?\w+>|[[\]]/g, "")).join("; ")}`;
}

async function mermaidScript(): Promise<string> {
  return await cached(`mermaid-${mermaid.version}.js`, async (path) => {
    const place = await mkdtemp(join(tmpdir(), "fairlead-mermaid-"));
    try {
      const answer = await run("npm", ["pack", "--json", `mermaid@${mermaid.version}`], { cwd: place });
      const [packed] = JSON.parse(answer) as { filename: string; integrity: string }[];
      if (packed?.integrity !== mermaid.integrity) throw new Error(`mermaid ${mermaid.version} has another digest: ${packed?.integrity}`);
      await run("tar", ["-xzf", packed.filename, "package/dist/mermaid.min.js"], { cwd: place });
      await writeFile(path, await readFile(join(place, "package/dist/mermaid.min.js")));
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });
}

async function draw(source: string, place: Place): Promise<string> {
  const page = await mkdtemp(join(tmpdir(), "fairlead-diagram-"));
  try {
    const settings = { startOnLoad: false, theme: themes[place], deterministicIds: true, fontFamily: "system-ui, sans-serif" };
    const text = `<!doctype html><meta charset="utf-8"><body><script src="${pathToFileURL(await mermaidScript())}"></script><script>
mermaid.initialize(${JSON.stringify(settings)});
mermaid.render("diagram", ${JSON.stringify(source).replaceAll("<", "\\u003c")}).then(
  ({ svg }) => {
    // Labels are HTML, and an image has to be XML.
    const drawn = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
    document.body.textContent = btoa(unescape(encodeURIComponent(new XMLSerializer().serializeToString(drawn))));
  },
  (error) => { document.body.textContent = "!" + error; });
</script>`;
    const file = join(page, "page.html");
    await writeFile(file, text);
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${page}`, "--virtual-time-budget=10000", "--dump-dom"];
    const dumped = await run(process.env.CHROMIUM ?? "chromium", [...flags, pathToFileURL(file).href]);
    const [, drawn = ""] = /<body>\s*([^<]*?)\s*<\/body>/.exec(dumped) ?? [];
    if (drawn === "" || drawn.startsWith("!"))
      throw new Error(`a diagram cannot be drawn: ${drawn.slice(1) || dumped.slice(0, 500)}\n${source}`);
    // Wide ones shrink with the page; none grows beyond its own size.
    return `${Buffer.from(drawn, "base64").toString().replace('width="100%"', sizeOf)}\n`;
  } finally {
    await rm(page, { recursive: true, force: true });
  }
}

/** As an image it needs a size of its own: that of its view box. */
function sizeOf(_match: string, _at: number, svg: string): string {
  const [, width = "", height = ""] = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
  return `width="${Math.ceil(Number(width))}" height="${Math.ceil(Number(height))}"`;
}

/** Draws what is missing, and removes what nobody needs. */
async function main(): Promise<void> {
  const texts = await Promise.all(globSync("**/*.md", { cwd: docs }).map((file) => readFile(join(docs, file), "utf8")));
  const wanted = filesFor(texts);
  const there: readonly string[] = await readdir(folder).catch(() => []);
  for (const name of there.filter((each) => !wanted.includes(each))) await rm(join(folder, name));
  for (const source of new Set(texts.flatMap(diagramsIn))) {
    for (const place of Object.keys(themes) as Place[]) {
      const name = fileOf(source, place);
      if (!there.includes(name)) await writeFile(join(folder, name), await draw(source, place));
    }
  }
  console.log(`${wanted.length} pictures`);
}

if (import.meta.main) await main();
