/** The bill of materials: every package that the bundle is made from, as npm writes it from the lock file. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./run.ts";
import { type Stamp, stamp } from "./stamp.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export type SbomFormat = "spdx" | "cyclonedx";

/** What npm makes up anew for each document. */
interface Document {
  documentNamespace?: string;
  creationInfo?: { created: string };
  serialNumber?: string;
  metadata?: { timestamp: string; component: { name: string } };
  name?: string;
}

/** The document in a format, the same for the same lock file and commit. */
export async function billOfMaterials(format: SbomFormat): Promise<string> {
  const [text, lock] = await Promise.all([
    run("npm", ["sbom", `--sbom-format=${format}`, "--omit=dev", "--package-lock-only"], { cwd: root }),
    readFile(join(root, "package-lock.json")),
  ]);
  return `${JSON.stringify(repeatable(JSON.parse(text) as Document, lock, stamp()))}\n`;
}

/** npm takes the time, a random id and the name of the folder: here they come from the commit and the lock file. */
export function repeatable(document: Document, lock: Uint8Array, { commit, date }: Stamp): Document {
  const id = uuidOf(`${commit}\0${createHash("sha256").update(lock).digest("hex")}`);
  const { documentNamespace, creationInfo, serialNumber, metadata } = document;
  return {
    ...document,
    ...(documentNamespace !== undefined && { documentNamespace: documentNamespace.replace(/[0-9a-f-]{36}$/, id) }),
    ...(creationInfo && { creationInfo: { ...creationInfo, created: date } }),
    ...(serialNumber !== undefined && { serialNumber: `urn:uuid:${id}` }),
    ...(metadata && { metadata: { ...metadata, timestamp: date, component: { ...metadata.component, name: "fairlead" } } }),
  };
}

/** A UUID of version 8 (of the maker's own choosing) from a text. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}
