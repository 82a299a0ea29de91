/** Applies manifests as `kubectl apply --server-side` would. */
import { readFile } from "node:fs/promises";
import type { KubeClient } from "../../src/kube/client.ts";
import { applyManifest as applyText } from "../../src/sandbox/manifests.ts";

export { apply } from "../../src/sandbox/manifests.ts";

/** Applies every document of a file below `deploy/`. */
export async function applyManifest(client: KubeClient, path: string): Promise<void> {
  await applyText(client, await readFile(new URL(`../../deploy/${path}`, import.meta.url), "utf8"));
}
