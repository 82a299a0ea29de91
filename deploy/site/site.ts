/**
 * Builds the documentation as a static site with a search of its own: `dist/site`.
 *
 *     npm run docs:site
 *
 * The pages are those of docs/ and the few of the root that they link to, as they are. VitePress refuses a link that leads nowhere.
 */
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../build/run.ts";
import { pictureStyle, withPictures } from "./diagrams.ts";
import { type IndexedPage, pagesOf, sidebarOf, withoutRepositoryLinks, withTitles } from "./pages.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Pages of the root that pages of docs/ link to. */
const beside = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];

/** Builds the site into a folder; resolves with the pages that it has. */
export async function buildSite(folder: string): Promise<readonly string[]> {
  const place = await mkdtemp(join(tmpdir(), "fairlead-site-"));
  try {
    const pages = await layOut(place);
    await symlink(join(root, "node_modules"), join(place, "node_modules"));
    await run(join(root, "node_modules/.bin/vitepress"), ["build", place], { cwd: place });
    await rm(folder, { recursive: true, force: true });
    await mkdir(join(folder, ".."), { recursive: true });
    await cp(join(place, ".vitepress/dist"), folder, { recursive: true });
    return pages;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function layOut(place: string): Promise<readonly string[]> {
  await cp(join(root, "docs"), join(place, "docs"), { recursive: true });
  for (const file of beside) await cp(join(root, file), join(place, file));
  await rename(join(place, "docs/README.md"), join(place, "docs/index.md"));
  const index = await readFile(join(place, "docs/index.md"), "utf8");
  const indexed = pagesOf(index, (path) => readFileSync(join(place, `docs/${path}.md`), "utf8"));
  const pages = (await readdir(place, { recursive: true })).filter((path) => path.endsWith(".md")).sort();
  for (const page of pages) {
    const path = join(place, page);
    const text = (await readFile(path, "utf8")).replace(/<!--.*?-->\n*/gs, "");
    const titled = page === "docs/index.md" ? withTitles(text, indexed) : text;
    const linked = withoutRepositoryLinks(titled, page, (target) => pages.includes(target));
    await writeFile(path, withPictures(linked, relative(dirname(path), join(place, "docs/images"))));
  }
  await writeFile(join(place, "index.md"), home);
  await mkdir(join(place, ".vitepress"));
  await writeFile(join(place, ".vitepress/config.mjs"), configText(indexed));
  return pages;
}

/** Pages are plain Markdown: `<id>` is a placeholder in them and no element, and braces in code are not Vue's. */
function configText(pages: readonly IndexedPage[]): string {
  return `const code = (md) => (tokens, index) => "<code v-pre>" + md.utils.escapeHtml(tokens[index].content) + "</code>";
const markdown = { html: false, config: (md) => { md.renderer.rules.code_inline = code(md); } };
export default { ...${JSON.stringify(configOf(pages), undefined, 2)}, markdown };
`;
}

function configOf(pages: readonly IndexedPage[]): object {
  return {
    title: "Fairlead",
    description: "Everything a Kubernetes cluster needs from AWS, in one program",
    // Without an icon of its own a browser asks for one that is not there.
    head: [
      ["link", { rel: "icon", href: "data:," }],
      ["style", {}, `${pictureStyle}\n${tableStyle}`],
    ],
    themeConfig: {
      search: { provider: "local" },
      outline: "deep",
      nav: [
        { text: "Documentation", link: "/docs/" },
        { text: "Changelog", link: "/CHANGELOG" },
      ],
      sidebar: sidebarOf(pages),
      footer: { message: "Apache-2.0. Not affiliated with Amazon Web Services." },
    },
  };
}

/** Tables whose columns need no names have none. */
const tableStyle = ".vp-doc thead:not(:has(th:not(:empty))) { display: none; }";

const home = `---
layout: home
hero:
  name: Fairlead
  text: Everything a Kubernetes cluster needs from AWS, in one program
  actions:
    - theme: brand
      text: Quick start
      link: /docs/quick-start
    - theme: alt
      text: All pages
      link: /docs/
---
`;

if (import.meta.main) {
  const folder = join(root, "dist/site");
  const pages = await buildSite(folder);
  console.log(`${relative(process.cwd(), folder)}: ${pages.length} pages`);
}
