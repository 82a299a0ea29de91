/** Mode metadataLabeler: from its command line to the running labeller, under the Lease of the reference. */
import { nodeInformer } from "../../identity/node-view.ts";
import { selfOnNode } from "../../identity/self.ts";
import type { LeaseToHold } from "../../process/leadership.ts";
import { operate as operateProcess } from "../../process/operate.ts";
import type { ControllerEntry } from "../../process/program.ts";
import type { World } from "../../runtime/world.ts";
import { driverName } from "../../volumes/names.ts";
import type { Life } from "../long-running.ts";
import { serveHealth } from "./roles.ts";
import { awsSettings } from "./settings.ts";
import type { DriverValues } from "./validate.ts";

const component = "ebs-csi-driver-metadata-labeler";
const timings = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 5_000 };
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

const entry: ControllerEntry = {
  name: "metadata-labeler",
  client: component,
  eventSource: driverName,
  metric: undefined,
  queue: "metadata-labeler",
  async make({ host, kube, cloud, informers }) {
    const [{ nodeLabeller }, { roleInformers }] = await Promise.all([
      import("../../volumes/labels/node-labels.ts"),
      import("../../volumes/roles/parts.ts"),
    ]);
    const nodes = informers.shared(nodeInformer);
    const volumes = informers.shared(roleInformers.volumes);
    return { kind: "run", controllers: [{ controller: nodeLabeller({ host, kube, cloud, nodes, volumes }) }] };
  },
};

/** Runs the labeller until asked to stop. */
export async function operateLabeler(values: DriverValues, { host, network, stop, version }: Life, master = ""): Promise<void> {
  const aws = awsSettings(host.world.environment);
  const lease = await leaseOf(host.world);
  await operateProcess({
    version,
    host,
    network,
    stop,
    kube: { component, kubeconfig: values.kubeconfig ?? "", master, limit: undefined, ownAccounts: false },
    aws,
    // It marks nothing in AWS, and needs to know of no cluster.
    self: selfOnNode(aws, ""),
    leadership: { leases: [lease], home: { namespace: lease.namespace, name: lease.name }, dryRun: false },
    serve: (health) => serveHealth(host, values["http-endpoint"] ?? "", health),
    programs: [{ component, controllers: [entry], migrated: [], startIntervalMs: 0 }],
    minResyncMs: 12 * 3_600_000,
  });
}

async function leaseOf({ environment, files }: World): Promise<LeaseToHold> {
  const own = async () => (await files.read(namespaceFile).catch(() => undefined))?.toString().trim();
  const namespace = environment.POD_NAMESPACE || (await own()) || "default";
  return { namespace, name: `metadata-labeler-${driverName.replaceAll(/[^a-zA-Z0-9]/g, "-")}`, timings };
}
