/** Mode metadataLabeler: from its command line to the running labeller, under the Lease of the reference. */
import { nodeInformer } from "../../identity/node-view.ts";
import { selfOnNode } from "../../identity/self.ts";
import type { LeaseToHold } from "../../process/leadership.ts";
import type { ControllerEntry } from "../../process/program.ts";
import type { World } from "../../runtime/world.ts";
import { driverName } from "../../volumes/names.ts";
import type { Life } from "../long-running.ts";
import { leaseTimings, oneEntry, operateLed } from "./led-process.ts";
import { awsSettings } from "./settings.ts";
import type { DriverValues } from "./validate.ts";

const component = "ebs-csi-driver-metadata-labeler";
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

const labeller: ControllerEntry["make"] = async ({ host, kube, cloud, informers }) => {
  const [{ nodeLabeller }, { roleInformers }] = await Promise.all([
    import("../../volumes/labels/node-labels.ts"),
    import("../../volumes/roles/parts.ts"),
  ]);
  const nodes = informers.shared(nodeInformer);
  const volumes = informers.shared(roleInformers.volumes);
  return { kind: "run", controllers: [{ controller: nodeLabeller({ host, kube, cloud, nodes, volumes }) }] };
};

/** Runs the labeller until asked to stop. */
export async function operateLabeler(values: DriverValues, life: Life, master = ""): Promise<void> {
  const { world } = life.host;
  const aws = awsSettings(world.environment);
  const leases = [await leaseOf(world)];
  const program = oneEntry(component, "metadata-labeler", labeller);
  // It marks nothing in AWS, and needs to know of no cluster.
  await operateLed({ aws, self: selfOnNode(aws, ""), leases, program }, values, life, master);
}

async function leaseOf({ environment, files }: World): Promise<LeaseToHold> {
  const own = async () => (await files.read(namespaceFile).catch(() => undefined))?.toString().trim();
  const namespace = environment.POD_NAMESPACE || (await own()) || "default";
  return { namespace, name: `metadata-labeler-${driverName.replaceAll(/[^a-zA-Z0-9]/g, "-")}`, timings: leaseTimings };
}
