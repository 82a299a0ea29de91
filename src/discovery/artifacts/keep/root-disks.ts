/**
 * Clusters that were installed before release 1.63 may have a configuration without sizes of root disks, which have 20 GiB in them. The
 * size is written into the stored configuration, so that a later default does not change machines that are there. The Secret is saved
 * first, as it was found. A restart between the two goes on where it was.
 */
import { isAlias, isMap } from "yaml";
import { configMaps, secrets } from "../../../kube/builtin.ts";
import type { KubeClient } from "../../../kube/client.ts";
import { isApiError } from "../../../kube/errors.ts";
import type { Frozen } from "../../../kube/resource.ts";
import type { Secret } from "../../../kube/types.ts";
import { watchSource } from "../../../kube/watch-source.ts";
import { again, type Controller, done } from "../../../runtime/controller.ts";
import type { Host } from "../../../runtime/host.ts";
import { getIfThere } from "../../context.ts";
import { configurationSecret, labels } from "../../objects.ts";
import { ArtifactsInputInvalid, parseYamlDocument } from "../input.ts";
import { configurationKey } from "./cluster-input.ts";
import { only, type SecretInformer } from "./informers.ts";

export const installData = { namespace: "d8-system", name: "install-data" };
export const backupName = `${configurationSecret.name}-bkp-disk-gb`;
const sizeGb = 20;
const fixedIn = [1, 63] as const;
/** A version or a configuration that cannot be read may be put right without an event here. */
const lookAgainMs = 5 * 60_000;

/** Whether a cluster that was installed with this release may lack sizes; undefined: nobody says with which. Throws when it says nothing known. */
export function mayLackSizes(version: string | undefined): boolean {
  if (version === undefined) return true;
  if (version === "dev") return false;
  const parsed = /^v?(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$/.exec(version.trim());
  if (parsed === null)
    throw new ArtifactsInputInvalid([`ConfigMap d8-system/install-data: version: ${JSON.stringify(version)} is no version`]);
  const [major, minor] = [Number(parsed[1]), Number(parsed[2])];
  return major < fixedIn[0] || (major === fixedIn[0] && minor < fixedIn[1]);
}

/** The configuration with the size of every root disk in it, its comments and order kept; undefined when it has them all. */
export function withRootDisks(text: string): string | undefined {
  const document = parseYamlDocument(text);
  const groups = document.get("nodeGroups") as { readonly items?: readonly unknown[] } | undefined;
  const classes: readonly (readonly (string | number)[])[] = [
    ["masterNodeGroup", "instanceClass"],
    ...(isAlias(groups) ? [["nodeGroups"]] : []),
    ...(groups?.items ?? []).map((_, index) => ["nodeGroups", index, "instanceClass"]),
  ];
  const lacking = classes.filter((path) => {
    if (path.some((_, depth) => isElsewhere(document.getIn(path.slice(0, depth + 1), true), path[depth + 1] ?? "diskSizeGb"))) {
      throw new ArtifactsInputInvalid([`validate ${configurationKey}: ${path.join(".")}: has an alias in it; write diskSizeGb by hand`]);
    }
    const found = document.getIn(path, true);
    // Who has no class is told by whoever reads the configuration.
    return isMap(found) && !found.has("diskSizeGb");
  });
  if (lacking.length === 0) return undefined;
  for (const path of lacking) document.setIn([...path, "diskSizeGb"], sizeGb);
  return document.toString({ lineWidth: 0 });
}

/** Whether an anchor elsewhere says what is in this place: what it says is not known here, and others may say the same. */
function isElsewhere(node: unknown, key: string | number): boolean {
  return isAlias(node) || (isMap(node) && node.has("<<") && !node.has(key));
}

export function rootDiskMigration({
  host,
  kube,
  configuration,
}: {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly configuration: SecretInformer;
}): Controller & { problem(): string | undefined } {
  let problem: string | undefined;
  return {
    name: "root-disks",
    concurrency: 1,
    sources: [watchSource(configuration, () => ["root-disks"])],
    async reconcile(_, signal) {
      const found = only(configuration);
      if (found === undefined) return done;
      try {
        const installed = await getIfThere(kube, configMaps, installData, signal);
        if (mayLackSizes(installed?.data?.version)) await migrate({ host, kube }, found, signal);
        problem = undefined;
        return done;
      } catch (error) {
        if (!(error instanceof ArtifactsInputInvalid)) throw error;
        problem = `sizes of root disks are not written: ${error.message}`;
        host.log.error("sizes of root disks are not written into the configuration", { why: error.message });
        return again(lookAgainMs, "look again whether the version and the configuration can be read");
      }
    },
    problem: () => problem,
  };
}

async function migrate(
  { host, kube }: { readonly host: Host; readonly kube: KubeClient },
  { metadata: { uid, resourceVersion }, data = {}, type }: Frozen<Secret> & { readonly metadata: { uid: string; resourceVersion: string } },
  signal: AbortSignal,
): Promise<void> {
  const text = withRootDisks(Buffer.from(data[configurationKey] ?? "", "base64").toString("utf8"));
  if (text === undefined) return;
  const { namespace, name } = configurationSecret;
  const backup = { metadata: { namespace, name: backupName, labels }, ...(type !== undefined && { type }), data };
  try {
    await kube.create(secrets, { apiVersion: "v1", kind: "Secret", ...backup } as Secret, { signal });
  } catch (error) {
    // The first one is the one to keep: it is from before anything was written.
    if (!isApiError(error, "already-exists")) throw error;
  }
  const merge = { metadata: { resourceVersion }, data: { [configurationKey]: Buffer.from(text).toString("base64") } };
  await kube.patch(secrets, { namespace, name }, { merge, uid }, { signal });
  host.log.info("wrote the sizes of root disks into the configuration, and saved it as it was before", {
    secret: name,
    backup: backupName,
  });
}
