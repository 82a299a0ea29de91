/** Installs what we ship, as `kubectl apply --server-side` would. */
import { parseAllDocuments } from "yaml";
import { serviceAccounts } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { type KubeObject, type Resource, resource } from "../kube/resource.ts";

/** Applies every document of a manifest but those of these kinds. */
export async function applyManifest(client: KubeClient, manifest: string, without: readonly string[] = []): Promise<void> {
  for (const document of parseAllDocuments(manifest)) {
    if (document.errors.length > 0) throw document.errors[0]!;
    const object = document.toJS() as KubeObject;
    if (!without.includes(object.kind ?? "")) await apply(client, object);
  }
}

/** Creates the object or brings it to this state. */
export async function apply(client: KubeClient, object: KubeObject): Promise<void> {
  const { name, namespace } = object.metadata ?? {};
  if (!name) throw new TypeError("apply: the object has no name");
  await client.patch(resourceOf(object), { name, namespace }, { apply: object, fieldManager: "sandbox", force: true });
}

/** Deletes the object. */
export async function remove(client: KubeClient, object: KubeObject): Promise<void> {
  const { name = "", namespace } = object.metadata ?? {};
  await client.delete(resourceOf(object), { name, namespace });
}

/** A token of a service account, good for a day. */
export async function accountToken(client: KubeClient, namespace: string, name: string): Promise<string> {
  const { status } = await client.createSubresource(
    serviceAccounts,
    { namespace, name, subresource: "token" },
    {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      ...{ spec: { audiences: [], expirationSeconds: 86_400 }, status: { token: "" } },
    },
  );
  return status.token;
}

/** The plural forms that adding an "s" or "es" gives are all that our manifests need. */
function resourceOf({ apiVersion = "", kind = "", metadata }: KubeObject): Resource<KubeObject> {
  const slash = apiVersion.indexOf("/");
  return resource({
    group: slash < 0 ? "" : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    plural: `${kind.toLowerCase()}${kind.endsWith("s") ? "es" : "s"}`,
    kind,
    namespaced: metadata?.namespace !== undefined,
  });
}
