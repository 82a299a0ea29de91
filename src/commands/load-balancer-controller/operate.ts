/** The load balancer controller as a process: from its options to what `process/` runs. */
import type { AwsSettings, ServiceOverride } from "../../aws/settings.ts";
import { nodeInformer } from "../../identity/node-view.ts";
import { type GatewayKeys, gatewayKeys } from "../../loadbalancers/gateway/seen.ts";
import { type IngressInformers, ingressInformers } from "../../loadbalancers/ingress/seen.ts";
import { type BindingInformers, bindingInformers } from "../../loadbalancers/targets/informers.ts";
import { ConfigurationFailed } from "../../process/errors.ts";
import type { LeaseToHold } from "../../process/leadership.ts";
import { type Network, operate as operateProcess, type ServedPorts } from "../../process/operate.ts";
import type { ControllerEntry, ProcessContext, Program } from "../../process/program.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { HealthChecks } from "../../runtime/health.ts";
import type { Host } from "../../runtime/host.ts";
import { servePlainly } from "../../runtime/plain-serving.ts";
import { RouteTable } from "../../runtime/routes.ts";
import type { Serving } from "../../runtime/serving.ts";
import { healthRoutes, metricsRoutes } from "../../runtime/standard-routes.ts";
import type { World } from "../../runtime/world.ts";
import { certificateSource } from "../webhook-serving.ts";
import type { Balancers } from "./balancers.ts";
import { gateOpen, openGateways } from "./feature-gates.ts";
import type { Options } from "./flags.ts";
import { cloudAs } from "./roles.ts";
import { startWebhooks, trustEntry } from "./webhooks.ts";

/** In Events, metrics and the user agent. */
const component = "aws-load-balancer-controller";

/** The reference's: a lease is lost ten seconds after its last renewal, and free after fifteen. */
const timings = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

const defaultBackoffMs = 2 * 60_000;

/** What one life of the controller is made from. */
export interface Operation {
  readonly options: Options;
  readonly version: string;
  readonly host: Host;
  readonly network: Network;
  /** How the API server is found where no kubeconfig says it. */
  readonly master?: string;
  /** Asks for a graceful end. */
  readonly stop: AbortSignal;
}

/** Runs until asked to stop, which is done gracefully; rejects with what made it end otherwise. */
export async function operate({ options, version, host, network, master = "", stop }: Operation): Promise<void> {
  const lease = await leaseOf(options, host.world);
  const { namespace, name } = lease;
  await operateProcess({
    version,
    host,
    network,
    stop,
    kube: { component, kubeconfig: options.kubeconfig, master, limit: undefined, ownAccounts: false },
    aws: awsSettings(options, host.world),
    leadership: { leases: options["enable-leader-election"] ? [lease] : [], home: { namespace, name }, dryRun: false },
    serve: (health) => servePorts(host, options, health),
    programs: [programOf(options, namespace)],
    minResyncMs: options["sync-period"],
  });
}

/** A cluster's name is its id in tags. */
function awsSettings(options: Options, { environment }: World): AwsSettings {
  const region = options["aws-region"] || environment.AWS_REGION || environment.AWS_DEFAULT_REGION || "";
  const endpoints = Object.entries(options["aws-api-endpoints"]);
  if (endpoints.length > 0 && region === "")
    throw new ConfigurationFailed("--aws-api-endpoints needs --aws-region: an endpoint is one of a region");
  const serviceOverrides = endpoints.map(([id, url]): ServiceOverride => ({ id, service: id, region, url, signingRegion: region }));
  const vpc = options["aws-vpc-id"];
  const vpcTags = options["aws-vpc-tags"];
  const place = { ...(vpc && { vpc }), ...(Object.keys(vpcTags).length > 0 && { vpcTags }) };
  return { ...(region && { region }), ...place, clusterId: options["cluster-name"], runsAnywhere: true, serviceOverrides };
}

const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/** The reference's lease. What else a process keeps in the cluster lies beside it. */
export async function leaseOf(options: Options, { files }: World): Promise<LeaseToHold> {
  const own = async () => (await files.read(namespaceFile).catch(() => undefined))?.toString().trim();
  const namespace = options["leader-election-namespace"] || (await own()) || "kube-system";
  return { namespace, name: options["leader-election-id"], timings };
}

/** The reference's two plain ports: metrics on one, probes on the other. */
async function servePorts(host: Host, options: Options, health: HealthChecks): Promise<ServedPorts> {
  const served: Serving[] = [];
  const open = async (flag: "metrics-bind-addr" | "health-probe-bind-addr", fill: (routes: RouteTable) => void) => {
    if (options[flag] === "0" || options[flag] === "") return;
    const routes = new RouteTable();
    fill(routes);
    served.push(await servePlainly(host, { address: options[flag], flag: `--${flag}`, routes }));
  };
  await open("metrics-bind-addr", (routes) => routes.add(...metricsRoutes(host.metrics, health.slis)));
  await open("health-probe-bind-addr", (routes) => routes.add(...healthRoutes(health)));
  return {
    serving: {
      stop: async (deadline) => {
        await Promise.all(served.map((each) => each.stop(deadline)));
      },
    },
  };
}

/** What is run; `home` is the namespace where the process keeps what is its own. */
export function programOf(options: Options, home: string): Program {
  const namespace = options["watch-namespace"];
  const informers = {
    ...bindingInformers(namespace, options["quic-environment-variable-name"], !options["enable-endpoint-slices"]),
    ...ingressInformers(namespace),
  };
  const balancers = sharedBalancers(options);
  const gateways = { ...informers, gateways: gatewayKeys(namespace) };
  const source = certificateSource(options, home);
  const configuration = options["webhook-configuration"];
  return {
    component,
    controllers: [
      bindings(options, informers, balancers),
      ...(gateOpen(options["feature-gates"], "IngressController") ? [ingresses(options, informers, balancers)] : []),
      ...(gateOpen(options["feature-gates"], "EnableServiceController") ? [classServices(options, informers, balancers)] : []),
      ...gatewayEntries(options, gateways, balancers),
      ...(source?.kind === "secret" ? [trustEntry(component, { ...source.place, configuration }, options, informers)] : []),
    ],
    migrated: [],
    startIntervalMs: 0,
    ...(source && { standby: (context) => startWebhooks(context, options, source, informers) }),
  };
}

/** Made once per process, by the first controller that needs them. */
function sharedBalancers(options: Options): (context: ProcessContext) => Promise<Balancers> {
  let made: Promise<Balancers> | undefined;
  return (context) => {
    made ??= import("./balancers.ts").then(({ balancersOf }) => balancersOf(context, options));
    return made;
  };
}

/** A controller under one name everywhere: in Events, in its queue's metrics and in the log. */
function entry(name: string, make: (context: ProcessContext) => Promise<Controller>): ControllerEntry {
  return {
    name,
    client: component,
    eventSource: name,
    metric: undefined,
    queue: name,
    make: async (context) => ({ kind: "run", controllers: [{ controller: await make(context) }] }),
  };
}

function bindings(options: Options, informers: BindingInformers, balancers: SharedBalancers): ControllerEntry {
  return entry("targetGroupBinding", async (context) => bindingControllerOf(context, options, informers, await balancers(context)));
}

async function bindingControllerOf(
  { host, kube, recorder, cloud, clouds, informers, self }: ProcessContext,
  options: Options,
  { bindings, services, slices, pods }: BindingInformers,
  { newGroups, countCalls }: Pick<Balancers, "newGroups" | "countCalls">,
) {
  const { bindingController } = await import("../../loadbalancers/targets/binding-controller.ts");
  if (self.vpc === undefined) throw new ConfigurationFailed("the VPC of the cluster is not known: set --aws-vpc-id");
  return bindingController({
    host,
    kube,
    recorder,
    cloud,
    vpc: self.vpc,
    cloudAs: (role) => {
      const other = cloudAs({ cloud, clouds }, options, role);
      countCalls(other.ledger);
      return other;
    },
    newGroups,
    clusterTag: `kubernetes.io/cluster/${options["cluster-name"]}`,
    bindings: informers.shared(bindings),
    services: informers.shared(services),
    slices: informers.shared(slices),
    pods: informers.shared(pods),
    nodes: informers.shared(nodeInformer),
    settings: {
      concurrency: options["targetgroupbinding-max-concurrent-reconciles"],
      maxBackoffMs: options["targetgroupbinding-max-exponential-backoff-delay"] ?? defaultBackoffMs,
      pollMs: options["targetgroupbinding-requeue-duration"],
      maxTargets: options["max-targets-per-target-group"],
      readsEndpoints: !options["enable-endpoint-slices"],
      exactRules: options["disable-restricted-sg-rules"],
      groupTags: options["service-target-eni-security-group-tags"],
      failOpen: gateOpen(options["feature-gates"], "EndpointsFailOpen"),
      syncPeriodMs: options["sync-period"],
    },
  });
}

type SharedBalancers = ReturnType<typeof sharedBalancers>;

function ingresses(options: Options, informers: BindingInformers & IngressInformers, balancers: SharedBalancers): ControllerEntry {
  return entry("ingress", async (context) => {
    const { ingressControllerOf } = await import("./ingress.ts");
    return ingressControllerOf(context, options, informers, await balancers(context));
  });
}

function classServices(options: Options, informers: BindingInformers, balancers: SharedBalancers): ControllerEntry {
  return entry("service", async (context) => {
    const { serviceControllerOf } = await import("./services.ts");
    return serviceControllerOf(context, options, informers, await balancers(context));
  });
}

type GatewayInformers = BindingInformers & IngressInformers & { readonly gateways: GatewayKeys };

/** Each kind of Gateway by its gate, and with any of them the classes and configurations. */
function gatewayEntries(options: Options, informers: GatewayInformers, balancers: SharedBalancers): readonly ControllerEntry[] {
  const open = openGateways(options["feature-gates"]);
  if (open.length === 0) return [];
  return [
    entry("gatewayclass", async (context) => {
      const { configurationControllerOf } = await import("./gateway.ts");
      return configurationControllerOf(context, options, informers, open);
    }),
    ...open.map((name) =>
      entry(`gateway.k8s.aws/${name}`, async (context) => {
        const { gatewayControllerOf } = await import("./gateway.ts");
        return gatewayControllerOf(context, options, informers, name, await balancers(context));
      }),
    ),
  ];
}
