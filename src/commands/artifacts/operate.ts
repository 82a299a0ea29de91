/** The keeper of artifacts as a process: from its options to what `process/` runs. */
import { noSettings } from "../../aws/settings.ts";
import { classKeeper } from "../../discovery/artifacts/keep/class-keeper.ts";
import { hostAddressWatch } from "../../discovery/artifacts/keep/host-addresses.ts";
import { keeperInformers } from "../../discovery/artifacts/keep/informers.ts";
import { artifactsKeeper } from "../../discovery/artifacts/keep/keeper.ts";
import { masterWatch } from "../../discovery/artifacts/keep/masters.ts";
import { ArtifactsMetrics } from "../../discovery/artifacts/keep/metrics.ts";
import { rootDiskMigration } from "../../discovery/artifacts/keep/root-disks.ts";
import { spotMarker } from "../../discovery/artifacts/keep/spot-nodes.ts";
import { nodeInformer } from "../../identity/node-view.ts";
import { selfOnNode } from "../../identity/self.ts";
import { electionTimings } from "../../process/flags.ts";
import type { LeaseToHold } from "../../process/leadership.ts";
import { type Network, operate as operateProcess, type ServedPorts } from "../../process/operate.ts";
import type { ControllerEntry, Enabled, ProcessContext, Program } from "../../process/program.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { HealthChecks } from "../../runtime/health.ts";
import type { Host } from "../../runtime/host.ts";
import { servePlainly } from "../../runtime/plain-serving.ts";
import { RouteTable } from "../../runtime/routes.ts";
import { healthRoutes, metricsRoutes } from "../../runtime/standard-routes.ts";
import type { RunOptions } from "./flags.ts";

/** In Events, metrics and the user agent. */
const component = "fairlead-artifacts";

export interface Operation {
  readonly options: RunOptions;
  readonly version: string;
  readonly host: Host;
  readonly network: Network;
  /** Asks for a graceful end. */
  readonly stop: AbortSignal;
  /** How what is served is reached: by a socket unless told otherwise. */
  readonly serve?: typeof servePort;
}

/** It asks AWS nothing: what it needs to know of it is in the cluster. */
const nowhere = { ...noSettings, region: "none" };

/** Runs until asked to stop, which is done gracefully; rejects with what made it end otherwise. */
export async function operate({ options, version, host, network, stop, serve = servePort }: Operation): Promise<void> {
  const dryRun = options["dry-run"];
  const lease = leaseOf(options);
  const home = { namespace: lease.namespace, name: dryRun ? `${lease.name}-dry-run` : lease.name };
  await operateProcess({
    version,
    host,
    network,
    stop,
    kube: { component, kubeconfig: options.kubeconfig, master: options.master, limit: undefined, ownAccounts: false },
    aws: nowhere,
    self: selfOnNode(nowhere, ""),
    leadership: { leases: options["leader-elect"] ? [{ ...lease, ...home }] : [], home, dryRun },
    serve: (health) => serve(host, options["listen-address"], health),
    programs: [programOf(options)],
    minResyncMs: 12 * 3_600_000,
  });
}

/** By which one of several replicas acts. */
export function leaseOf(options: RunOptions): LeaseToHold {
  return {
    namespace: options["leader-elect-resource-namespace"],
    name: options["leader-elect-resource-name"],
    timings: electionTimings(options),
  };
}

async function servePort(host: Host, address: string, health: HealthChecks): Promise<ServedPorts> {
  if (address === "") return { serving: undefined };
  const routes = new RouteTable();
  routes.add(...metricsRoutes(host.metrics, health.slis), ...healthRoutes(health));
  return { serving: await servePlainly(host, { address, flag: "--listen-address", routes }) };
}

type Switch = "instance-classes" | "spot-nodes" | "host-addresses" | "wait-for-masters" | "root-disk-migration";
type ProgramOptions = Pick<RunOptions, "settings" | Switch>;

/** What is run, by itself or beside other programs. */
export function programOf(options: ProgramOptions): Program {
  const [namespace = "", name = ""] = options.settings.split("/");
  const informers = keeperInformers({ namespace, name });
  let metrics: ArtifactsMetrics | undefined;
  const shared = ({ host }: ProcessContext) => (metrics ??= new ArtifactsMetrics(host.metrics));
  const switched: readonly (readonly [Switch, ControllerEntry])[] = [
    [
      "instance-classes",
      entry("instance-classes", (context) => {
        const { host, kube, recorder } = context;
        const configuration = context.informers.shared(informers.configuration);
        const discovery = context.informers.shared(informers.discovery);
        return running(classKeeper({ host, kube, recorder, configuration, discovery, metrics: shared(context) }));
      }),
    ],
    [
      "spot-nodes",
      entry("spot-nodes", ({ host, kube, informers: all }) => running(spotMarker({ host, kube, nodes: all.shared(nodeInformer) }))),
    ],
    [
      "host-addresses",
      entry("host-addresses", ({ host, kube, informers: all }) =>
        running(hostAddressWatch({ host, kube, pods: all.shared(informers.controllerManagers) })),
      ),
    ],
    [
      "wait-for-masters",
      entry("masters", ({ host, recorder, informers: all }) => telling(masterWatch({ host, recorder, nodes: all.shared(nodeInformer) }))),
    ],
    [
      "root-disk-migration",
      entry("root-disks", ({ host, kube, informers: all }) =>
        telling(rootDiskMigration({ host, kube, configuration: all.shared(informers.configuration) })),
      ),
    ],
  ];
  return {
    component,
    controllers: [
      entry("artifacts", (context) => {
        const { host, kube, recorder, home } = context;
        const keeper = artifactsKeeper({
          host,
          kube,
          recorder,
          home,
          configuration: context.informers.shared(informers.configuration),
          uuid: context.informers.shared(informers.uuid),
          settings: context.informers.shared(informers.settings),
          storageClasses: context.informers.shared(informers.storageClasses),
          metrics: shared(context),
        });
        return telling(keeper);
      }),
      ...switched.filter(([name]) => options[name]).map(([, made]) => made),
    ],
    migrated: [],
    startIntervalMs: 0,
  };
}

function running(controller: Controller): Extract<Enabled, { kind: "run" }> {
  return { kind: "run", controllers: [{ controller }] };
}

/** Says in `/readyz` what keeps it from its work. */
function telling(controller: Controller & { problem(): string | undefined }): Enabled {
  return { ...running(controller), problem: () => controller.problem() };
}

function entry(name: string, make: (context: ProcessContext) => Enabled): ControllerEntry {
  return { name, client: component, eventSource: component, metric: undefined, queue: name, make: async (context) => make(context) };
}
