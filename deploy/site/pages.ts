/** The site's order of pages, from the index that docs/README.md is, and what of their links the site can follow. */
import { dirname, normalize } from "node:path";

export interface IndexedPage {
  /** Within docs/, without its ending: `reference/flags`. */
  readonly path: string;
  readonly title: string;
}

/** The pages that the index links to, in its order. */
export function pagesOf(index: string): readonly IndexedPage[] {
  const links = [...index.matchAll(/\[([^\]]+)\]\(([\w./-]+)\.md\)/g)];
  const pages = links.map(([, text = "", path = ""]) => ({ path, title: titled(text.replace(/\.md$/, "")) }));
  return [...new Map(pages.map((page) => [page.path, page])).values()].filter(({ path }) => !path.startsWith(".."));
}

/** "quick-start" → "Quick start". */
function titled(name: string): string {
  const words = name.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
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
