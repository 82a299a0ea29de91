/**
 * The files of the page, from memory. In a clone the scripts are bundled when the page is opened first, in some hundredths
 * of a second; in the package, which has neither sources nor bundler, what this returns stands in place of this module.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { PageFile } from "./serving.ts";

export type PageFiles = Readonly<Record<string, PageFile>>;

const folder = new URL("./page/", import.meta.url);

export async function pageFiles(): Promise<PageFiles> {
  const { build } = await import("esbuild");
  const bundled = await build({
    entryPoints: [fileURLToPath(new URL("main.ts", folder))],
    bundle: true,
    format: "esm",
    target: "es2024",
    minify: true,
    write: false,
    legalComments: "none",
    logLevel: "error",
  });
  const read = (name: string) => readFile(new URL(name, folder), "utf8");
  return {
    "/": { type: "text/html; charset=utf-8", body: await read("index.html") },
    "/style.css": { type: "text/css; charset=utf-8", body: await read("style.css") },
    "/page.js": { type: "text/javascript; charset=utf-8", body: bundled.outputFiles[0]!.text },
  };
}
