import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { XMLValidator } from "fast-xml-parser";
import { filesFor, withPictures } from "./diagrams.ts";
import { pagesOf, sidebarOf, withoutRepositoryLinks, withTitles } from "./pages.ts";
import { screenshot } from "./screenshot.ts";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));

test("every page is in the index, and so in the site's sidebar", async () => {
  const indexed = pagesOf(await readFile(`${docs}README.md`, "utf8"), () => "").map(({ path }) => `${path}.md`);
  const there = globSync("{*,reference/*}.md", { cwd: docs }).filter((path) => path !== "README.md");
  assert.deepEqual(
    there.filter((path) => !indexed.includes(path)),
    [],
  );
  assert.deepEqual(
    indexed.filter((path) => !there.includes(path)),
    [],
  );
});

test("the sidebar has the guides in the index's order, then the reference, under their own headings", () => {
  const index = "[quick-start.md](quick-start.md) [flags](reference/flags.md) [faq.md](faq.md) [again](faq.md) [out](../SECURITY.md)";
  const texts: Readonly<Record<string, string>> = {
    "quick-start": "# Quick start\n\n# Not this\n",
    "reference/flags": "# Flags of `fairlead controller-manager`\n",
    faq: "no heading",
  };
  assert.deepEqual(sidebarOf(pagesOf(index, (path) => texts[path]!)), [
    {
      text: "Guides",
      items: [
        { text: "Quick start", link: "/docs/quick-start" },
        { text: "faq", link: "/docs/faq" },
      ],
    },
    { text: "Reference", items: [{ text: "Flags of fairlead controller-manager", link: "/docs/reference/flags" }] },
  ]);
});

test("the site's index names pages by their headings", () => {
  const pages = [{ path: "faq", title: "Frequently asked questions" }];
  assert.equal(
    withTitles("| [faq.md](faq.md) | [e2e.md](e2e.md) | [faq](faq.md) |", pages),
    "| [Frequently asked questions](faq.md) | [e2e.md](e2e.md) | [faq](faq.md) |",
  );
});

test("no page has Vue's braces outside of code: there they would be taken for Vue's", () => {
  const files = globSync("{docs/{*,reference/*,runbooks/*}.md,CHANGELOG.md,CONTRIBUTING.md,SECURITY.md}", { cwd: `${docs}..` });
  const withBraces = files.filter((file) => {
    const text = readFileSync(`${docs}../${file}`, "utf8")
      .replace(/^ *```[\s\S]*?^ *```$/gm, "")
      .replace(/`[^`]*`/g, "");
    return text.includes("{{");
  });
  assert.deepEqual(withBraces, []);
});

test("links between pages stay, those to other files of the repository become text", () => {
  const isPage = (path: string) => ["docs/a.md", "docs/index.md", "CHANGELOG.md"].includes(path);
  const text = "[a](a.md#part) [c](../CHANGELOG.md) [all](README.md) [src](../src/x.ts) [out](https://example.org) ![chart](x.svg)";
  assert.equal(
    withoutRepositoryLinks(text, "docs/b.md", isPage),
    "[a](a.md#part) [c](../CHANGELOG.md) [all](index.md) src [out](https://example.org) ![chart](x.svg)",
  );
});

test("every link to a part of a page leads to a heading", async () => {
  const files = globSync("{*,reference/*,runbooks/*}.md", { cwd: docs });
  const pages = new Map(await Promise.all(files.map(async (file) => [file, await readFile(`${docs}${file}`, "utf8")] as const)));
  const broken = [...pages].flatMap(([file, text]) =>
    [...text.matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)].flatMap(([, target = "", anchor = ""]) => {
      const page = pages.get(target === "" ? file : normalize(`${dirname(file)}/${target}`));
      return page === undefined || headingsOf(page).has(anchor) ? [] : [`${file}: ${target}#${anchor}`];
    }),
  );
  assert.deepEqual(broken, []);
});

/** Headings as links name them. */
function headingsOf(text: string): ReadonlySet<string> {
  const titles = [...text.replace(/^ *```[\s\S]*?^ *```$/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => title);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(/\s/g, "-"),
    ),
  );
}

test("every diagram is drawn as it is written now, for light and dark pages; node deploy/site/diagrams.ts draws them", async () => {
  const texts = await Promise.all(globSync("**/*.md", { cwd: docs }).map((file) => readFile(`${docs}${file}`, "utf8")));
  const wanted = filesFor(texts);
  assert.ok(wanted.length > 0);
  assert.deepEqual(globSync("*", { cwd: `${docs}images/diagrams` }).sort(), wanted);
  for (const file of wanted) {
    const picture = await readFile(`${docs}images/diagrams/${file}`, "utf8");
    assert.match(picture, /^<svg [^>]*width="\d+" height="\d+"/, file);
    // Browsers show no image that is not well-formed.
    assert.equal(XMLValidator.validate(picture), true, file);
  }
});

test("a diagram in a page becomes its two pictures, with its words for who cannot see them", () => {
  const page = 'before\n\n```mermaid\nflowchart LR\n  a["<b>one</b><br>thing"] --> b["two"]\n```\n\nafter\n';
  const [light, dark] = filesFor([page]).toReversed();
  assert.equal(
    withPictures(page, "../images"),
    `before\n\n![Diagram: one thing; two](../images/diagrams/${light}){.only-light}\n` +
      `![Diagram: one thing; two](../images/diagrams/${dark}){.only-dark}\n\nafter\n`,
  );
});

test("a picture of a command's output has its first lines, cut and escaped", () => {
  const picture = screenshot(`1/10  Nodes <arrive>\n  ✓ all & everything\n${"x".repeat(200)}\n${"more\n".repeat(100)}`);
  assert.match(picture, /fill="#79c0ff"[^>]*>1\/10 {2}Nodes &lt;arrive&gt;</);
  assert.match(picture, /fill="#7ee787"[^>]*> {2}✓ all &amp; everything</);
  assert.equal(picture.match(/<text /g)?.length, 46);
  assert.doesNotMatch(picture, /x{124}/);
});
