/** The site's order of pages, from the index that docs/README.md is, and what of their links the site can follow. */
import { dirname, normalize } from "node:path";

export interface IndexedPage {
  /** Within docs/, without its ending: `reference/flags`. */
  readonly path: string;
  readonly title: string;
}

/** The pages that the index links to, in its order, with their own headings. `textOf` reads a page by its path. */
export function pagesOf(index: string, textOf: (path: string) => string): readonly IndexedPage[] {
  const paths = [...index.matchAll(/\]\(([\w./-]+)\.md\)/g)].map(([, path = ""]) => path).filter((path) => !path.startsWith(".."));
  return [...new Set(paths)].map((path) => ({ path, title: titleOf(textOf(path)) ?? path }));
}

/** The heading of a page, without what is marked in it. */
function titleOf(text: string): string | undefined {
  return /^# (.*)$/m.exec(text)?.[1]?.replaceAll("`", "");
}

/** The index as the site shows it: pages by their headings, not by the names of their files. */
export function withTitles(index: string, pages: readonly IndexedPage[]): string {
  const titles = new Map(pages.map(({ path, title }) => [path, title]));
  return index.replace(/\[([\w-]+)\.md\]\(\1\.md\)/g, (link, path: string) =>
    titles.has(path) ? `[${titles.get(path)}](${path}.md)` : link,
  );
}

/** VitePress's sidebar: guides, then what is generated. */
export function sidebarOf(pages: readonly IndexedPage[]): readonly object[] {
  const item = ({ path, title }: IndexedPage) => ({ text: title, link: `/docs/${path}` });
  const isReference = ({ path }: IndexedPage) => path.startsWith("reference/");
  return [
    { text: "Guides", items: pages.filter((page) => !isReference(page)).map(item) },
    { text: "Reference", items: pages.filter(isReference).map(item) },
  ];
}

/** Links into the repository, to what is no page, become plain text: the site has no such file. */
export function withoutRepositoryLinks(text: string, page: string, isPage: (path: string) => boolean): string {
  return text.replace(/\[([^\]]+)\]\(([^)\s#]+)(#[^)]*)?\)/g, (link, label: string, target: string, anchor = "") => {
    if (/^(https?|mailto):/.test(target)) return link;
    const path = normalize(`${dirname(page)}/${target}`).replace(/^docs\/README\.md$/, "docs/index.md");
    if (isPage(path)) return path === "docs/index.md" ? `[${label}](${target.replace("README.md", "index.md")}${anchor})` : link;
    return path.endsWith(".svg") || path.endsWith(".png") ? link : label;
  });
}
