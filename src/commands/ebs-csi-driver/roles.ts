/** The driver's controller with the roles of the sidecars in the same process: no socket, one lease holder for all of them. */
import { nodeInformer } from "../../identity/node-view.ts";
import type { LeaseToHold } from "../../process/leadership.ts";
import type { Enabled, ProcessContext, Program } from "../../process/program.ts";
import type { Controller } from "../../runtime/controller.ts";
import { driverName } from "../../volumes/names.ts";
import type { Contents } from "../../volumes/roles/snapshotter.ts";
import { servesSnapshots } from "../../volumes/storage-resources.ts";
import type { Life } from "../long-running.ts";
import { certificateSource } from "../webhook-serving.ts";
import { leaseTimings, oneEntry, operateLed } from "./led-process.ts";
import { awsSettings } from "./settings.ts";
import { controllerSettings, type DriverValues } from "./validate.ts";
import { startVolumeWebhook, volumeTrustEntry } from "./webhooks.ts";

/** In Events, metrics and the user agent. */
const component = "ebs-csi-driver";

const suffix = driverName.replaceAll(".", "-");
const leaseNames = [suffix, `external-attacher-leader-${suffix}`, `external-resizer-${suffix}`, `external-snapshotter-leader-${suffix}`];

/** How many objects of each kind are worked on at once; the sidecars' own number in the reference's chart. */
const concurrency = 100;

/** The leases of the sidecars: one of them that is left running does nothing while this process leads. */
export function roleLeases(values: DriverValues): readonly LeaseToHold[] {
  const namespace = values["leader-election-namespace"] || "kube-system";
  return leaseNames.map((name) => ({ namespace, name, timings: leaseTimings }));
}

/** Everything that the roles run. */
export function roleProgram(values: DriverValues): Program {
  const program = oneEntry(component, "volumes", (context) => rolesOf(context, values));
  const source = certificateSource(values, roleLeases(values)[0]!.namespace);
  if (!values["volume-labels"] || source === undefined) return program;
  const trust = source.kind === "secret" ? [volumeTrustEntry(component, source.place, values["webhook-configuration"] ?? "")] : [];
  return {
    ...program,
    controllers: [...program.controllers, ...trust],
    standby: (context) => startVolumeWebhook(context, values, source),
  };
}

async function rolesOf(context: ProcessContext, values: DriverValues): Promise<Enabled> {
  const settings = controllerSettings(values);
  const [{ builtInRoles }, { roleInformers }] = await Promise.all([
    import("../../volumes/roles/roles.ts"),
    import("../../volumes/roles/parts.ts"),
  ]);
  const { host, kube, recorder, cloud, informers, self } = context;
  const controllers = await builtInRoles({
    host,
    kube,
    recorder,
    cloud,
    controller: { ...settings, tags: { ...settings.tags, clusterId: settings.tags.clusterId ?? self.cluster.id } },
    claims: informers.shared(roleInformers.claims),
    volumes: informers.shared(roleInformers.volumes),
    classes: informers.shared(roleInformers.classes),
    attachments: informers.shared(roleInformers.attachments),
    csiNodes: informers.shared(roleInformers.csiNodes),
    nodes: informers.shared(nodeInformer),
    contents: await snapshotsOf(context),
    settings: { defaultFsType: values["default-fstype"] ?? "", concurrency },
  });
  if (values["volume-labels"]) {
    const { volumeLabeller } = await import("../../volumes/labels/volume-labels.ts");
    const volumes = informers.shared(roleInformers.volumes);
    return running([...controllers, volumeLabeller({ host, kube, recorder, cloud, volumes })]);
  }
  return running(controllers);
}

function running(controllers: readonly Controller[]): Enabled {
  return { kind: "run", controllers: controllers.map((controller) => ({ controller })) };
}

/** Where the definitions come later, the process has to be started again. */
async function snapshotsOf({ kube, host, informers }: ProcessContext): Promise<Contents | undefined> {
  if (await servesSnapshots(kube)) return informers.shared((await import("../../volumes/roles/snapshotter.ts")).contentInformer);
  host.log.info("snapshots are not served: the definitions of VolumeSnapshot are not installed");
  return undefined;
}

/** Runs the controller and the roles until asked to stop. */
export async function operateRoles(values: DriverValues, life: Life, master = ""): Promise<void> {
  const own = awsSettings(life.host.world.environment);
  const aws = { ...own, clusterId: values["k8s-tag-cluster-id"] ?? "", runsAnywhere: true, anyVpc: true };
  await operateLed({ aws, leases: roleLeases(values), program: roleProgram(values) }, values, life, master);
}
