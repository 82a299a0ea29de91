/** The roles of our plain manifests, for tests that run a program under them. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { PolicyRule } from "../../src/kube/types.ts";

/** The rules of every role in a manifest that we ship. */
export async function shippedRules(manifest: string): Promise<readonly PolicyRule[]> {
  const text = await readFile(join(import.meta.dirname, "../../deploy/manifests", manifest), "utf8");
  const documents = parseAllDocuments(text).map((document) => document.toJS() as { kind?: string; rules?: PolicyRule[] } | null);
  return documents.flatMap((each) => (each?.kind === "ClusterRole" || each?.kind === "Role" ? (each.rules ?? []) : []));
}
