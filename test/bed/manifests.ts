/** Applies manifests as `kubectl apply --server-side` would. */
import { readFile } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import type { KubeClient } from "../../src/kube/client.ts";
import { type KubeObject, type Resource, resource } from "../../src/kube/resource.ts";

/** Applies every document of a file below `deploy/`. */
export async function applyManifest(client: KubeClient, path: string): Promise<void> {
  const text = await readFile(new URL(`../../deploy/${path}`, import.meta.url), "utf8");
  for (const document of parseAllDocuments(text)) {
    if (document.errors.length > 0) throw document.errors[0]!;
    await apply(client, document.toJS() as KubeObject);
  }
}

/** Creates the object or brings it to this state. */
export async function apply(client: KubeClient, object: KubeObject): Promise<void> {
  const { name, namespace } = object.metadata ?? {};
  if (!name) throw new TypeError("apply: the object has no name");
  await client.patch(resourceOf(object), { name, namespace }, { apply: object, fieldManager: "test-bed", force: true });
}

/** The plural forms that adding an "s" gives are all that our manifests need. */
function resourceOf({ apiVersion = "", kind = "", metadata }: KubeObject): Resource<KubeObject> {
  const slash = apiVersion.indexOf("/");
  return resource({
    group: slash < 0 ? "" : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    plural: `${kind.toLowerCase()}s`,
    kind,
    namespaced: metadata?.namespace !== undefined,
  });
}
