/** From the command line of the driver to the running services. */
import { Clouds } from "../../aws/cloud.ts";
import { nodes } from "../../kube/builtin.ts";
import { KubeClient } from "../../kube/client.ts";
import { loadKubeConfig } from "../../kube/config/load.ts";
import { build } from "../../process/build.ts";
import { agentOf } from "../../process/clients.ts";
import { openGate } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import { type DriverOptions, runDriver } from "../../volumes/driver.ts";
import { type MetadataSource, nodeFacts } from "../../volumes/node/metadata.ts";
import { awaitDetachments } from "../../volumes/node/pre-stop.ts";
import { removeStartupTaint } from "../../volumes/node/startup-taint.ts";
import type { Life } from "../long-running.ts";
import type { Mode } from "./flags.ts";
import { awsSettings } from "./settings.ts";
import { controllerSettings, type DriverValues, sourcesOf } from "./validate.ts";

/** Runs a mode to its end. */
export async function operate(mode: Mode, values: DriverValues, life: Life): Promise<void> {
  if (values["built-in-roles"]) {
    const { operateRoles } = await import("./roles.ts");
    return operateRoles(values, life);
  }
  if (mode === "metadataLabeler") {
    const { operateLabeler } = await import("./metadata-labeler.ts");
    return operateLabeler(values, life);
  }
  const { host, network, stop, version } = life;
  const { environment } = host.world;
  const kube = await kubeClient(host, values.kubeconfig ?? "");
  if (mode === "pre-stop-hook") {
    if (kube === undefined) throw new Error("there is no Kubernetes client");
    await awaitDetachments(kube, environment.CSI_NODE_NAME, stop);
    return;
  }
  const extra = values["user-agent-extra"] ? `-${values["user-agent-extra"]}` : "";
  const clouds = new Clouds({
    host,
    transport: network.aws,
    gate: openGate(),
    settings: awsSettings(environment),
    version: build.version + extra,
  });
  const metadata = clouds.metadata;
  const node = mode === "controller" ? undefined : await nodePart(values, { host, kube, metadata, signal: stop });
  const here = node && (await node.facts(stop));
  await runDriver({
    host,
    version,
    endpoint: values.endpoint ?? "",
    metrics: values["http-endpoint"]
      ? { address: values["http-endpoint"], certFile: values["metrics-cert-file"] ?? "", keyFile: values["metrics-key-file"] ?? "" }
      : undefined,
    controller:
      mode === "node"
        ? undefined
        : {
            cloud: here === undefined ? await clouds.home(stop) : clouds.in(here.region),
            settings: { ...controllerSettings(values), ...(here && { ownZone: here.zone }) },
          },
    node,
    registration: registrationOf(values),
    stop,
  });
  await kube?.close();
}

/** What the node service is made from. */
export interface NodeSurroundings {
  readonly host: Host;
  /** Undefined where there is no Kubernetes API. */
  readonly kube: KubeClient | undefined;
  readonly metadata: Clouds["metadata"];
  readonly signal: AbortSignal;
}

/** Learns what the node is, and looks after its start-up taint until the signal aborts. */
export async function nodePart(
  values: DriverValues,
  { host, kube, metadata, signal }: NodeSurroundings,
): Promise<NonNullable<DriverOptions["node"]>> {
  const { environment } = host.world;
  const nodeName = environment.CSI_NODE_NAME || environment.NODE_NAME;
  const facts = await nodeFacts(
    {
      sources: sourcesOf(values) as readonly MetadataSource[],
      metadata,
      node: kube && nodeName ? (inner) => kube.get(nodes, { name: nodeName }, { signal: inner }) : undefined,
      nodeName,
      region: environment.AWS_REGION,
      clock: host.world.clock,
      log: host.log,
    },
    signal,
  );
  if (kube !== undefined && nodeName && !environment.DISABLE_TAINT_WATCHER) {
    removeStartupTaint(kube, nodeName, host, signal).catch((error: unknown) => {
      if (!signal.aborted) host.log.warn("the start-up taint is not managed", { error });
    });
  }
  const mountPrefix = values["csi-mount-point-prefix"] ?? "";
  if (mountPrefix !== "") {
    const [{ exportDiskMetrics }, { linuxSystem }] = await Promise.all([
      import("../../volumes/node/disk-metrics.ts"),
      import("../../volumes/node/system.ts"),
    ]);
    const { instanceId } = await facts(signal);
    exportDiskMetrics(host.metrics, { system: linuxSystem(), clock: host.world.clock, instanceId, mountPrefix });
  }
  return {
    facts,
    settings: {
      legacyXfs: values["legacy-xfs"] ?? false,
      limits: { attachLimit: values["volume-attach-limit"] ?? -1, reserved: values["reserved-volume-attachments"] ?? -1 },
    },
  };
}

/** Where kubelet is told of the driver; undefined when a sidecar does it. */
export function registrationOf(values: DriverValues): DriverOptions["registration"] {
  const endpoint = values["kubelet-registration-path"];
  return endpoint ? { endpoint, folder: values["plugin-registration-path"] ?? "" } : undefined;
}

/** Undefined when there is none to be had: then what needs it is left out. */
async function kubeClient(host: Host, kubeconfig: string): Promise<KubeClient | undefined> {
  try {
    const config = await loadKubeConfig(host.world, { kubeconfig });
    return new KubeClient({ host, config, gate: openGate(), userAgent: agentOf("ebs-csi-driver") });
  } catch (error) {
    host.log.v(2)?.info("working without the Kubernetes API", { error });
    return undefined;
  }
}
