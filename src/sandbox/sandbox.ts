/** A whole small world on this machine: a cloud, a cluster, machines with kubelets on them, and Fairlead at work. */
import { appendFile, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CanonicalName } from "../commands/controller-manager/controller-names.ts";
import { controllerTable } from "../commands/controller-manager/controller-table.ts";
import { KubeClient } from "../kube/client.ts";
import { loadKubeConfig } from "../kube/config/load.ts";
import { openGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { sleep, type World } from "../runtime/world.ts";
import { CallLog } from "./calls.ts";
import { ClientsWay } from "./clients-way.ts";
import type { Probe } from "./cloud/account.ts";
import { type Cloud, createCloud } from "./cloud/cloud.ts";
import { serve } from "./cloud/serve.ts";
import { supervise } from "./cluster/real/supervision.ts";
import { type SandboxCluster, startSandboxCluster } from "./cluster.ts";
import { cloudConfigFile, handlersOf, installFairlead, startBalancerProgram, startVolumes } from "./installation.ts";
import { standInForKubeControllerManager } from "./kube-controller-manager.ts";
import { Kubelets } from "./kubelets.ts";
import { type Layout, makeLayout } from "./layout/layout.ts";
import { Machines } from "./machines.ts";
import type { NodeHandlers } from "./node-handlers.ts";
import { Observer } from "./observer.ts";
import { endPods } from "./pod-endings.ts";
import type { Replicas } from "./replicas.ts";
import { clusterName, keys, pace, region } from "./settings.ts";
import type { Picture } from "./view/picture.ts";
import type { VolumeObjects } from "./volume-driver.ts";

export interface SandboxOptions {
  readonly world: World;
  readonly cluster: "auto" | "embedded" | "real";
  /** Machines to start with. */
  readonly nodes: number;
  /** Whether kubelets know their provider ID. */
  readonly withProviderId: boolean;
  /** Ports of the two APIs; 0 takes a free one. */
  readonly ports: { readonly kubernetes: number; readonly aws: number };
  /** Told what is being done while the sandbox is built. */
  readonly say: (line: string) => void;
}

export interface Sandbox {
  readonly world: World;
  readonly cloud: Cloud;
  readonly machines: Machines;
  /** The network it stands in. */
  readonly layout: Layout;
  readonly replicas: Replicas;
  /** Termination handlers, where somebody wants to see them. */
  readonly handlers: NodeHandlers;
  /** Claims and snapshots, which the driver of volumes serves. */
  readonly volumes: VolumeObjects;
  /** All-powerful, as the sandbox's user is. */
  readonly kube: KubeClient;
  /** What this build of Fairlead can do. */
  readonly controllers: ReadonlySet<CanonicalName>;
  /** How to point kubectl and the aws command at it. */
  readonly access: Access;
  picture(): Picture;
  /** Makes AWS answer that it is asked too much. */
  throttle(on: boolean): void;
  close(): Promise<void>;
}

/** For a shell, beside the sandbox. */
export interface Access {
  /** A file to source, which sets all of `variables`. */
  readonly file: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The cloud config of the replicas. */
  readonly cloudConfig: string;
  /** What the controllers know the cluster by. */
  readonly clusterName: string;
  /** Where the logs of the replicas and of the sandbox itself are, as a pattern. */
  readonly logs: string;
}

/** Builds it and starts everything in it; resolves when Fairlead's processes have been started. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const ends: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    return await build(options, ends, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function build(options: SandboxOptions, ends: (() => Promise<void>)[], close: () => Promise<void>): Promise<Sandbox> {
  const { world, say, ports } = options;
  const folder = await mkdtemp(join(tmpdir(), "fairlead-sandbox-"));
  const supervision = await supervise(folder);
  ends.push(() => supervision.close());
  const life = new AbortController();

  // The cloud is there before anybody lives in it who could answer its health checks.
  const seats: { probe: Probe } = { probe: () => ({ kind: "silent" }) };
  const cloud = createCloud({
    world,
    region,
    settings: { speed: pace.cloudSpeed, latency: pace.cloudLatency, provisioningMs: pace.provisioningMs },
    probe: (target) => seats.probe(target),
  });
  const layout = await makeLayout(cloud, clusterName, world.clock, life.signal);
  const { network } = layout;
  const machines = new Machines(cloud, network);
  const calls = new CallLog(world.clock);
  const aws = await serve({ ...cloud, handle: calls.over(cloud.handle) }, ports.aws).catch(busy(ports.aws, "aws-port"));
  ends.push(() => aws.close());
  say(`a simulated AWS is running: region ${region}; the layout WithNAT has made a VPC with subnets in three zones`);

  const cluster = await startSandboxCluster({ world, kind: options.cluster, port: ports.kubernetes, say }).catch(
    busy(ports.kubernetes, "kubernetes-port"),
  );
  ends.push(() => cluster.close());
  const kubeconfig = join(folder, "kubeconfig");
  await world.files.write(kubeconfig, cluster.kubeconfig(), 0o600);
  const kube = await client(world, kubeconfig);
  ends.push(() => kube.close());
  say(`a Kubernetes API is running: ${clusterText(cluster)}`);

  ends.push(async () => life.abort(new Error("the sandbox ends")));
  const observer = new Observer(kube);
  await observer.start(life.signal);
  const complain = complaints(world, folder);
  const probeNode = populate({ ...options, kube, observer, machines, complain, signal: life.signal });
  const way = new ClientsWay({
    cloud,
    random: world.random,
    machines,
    probe: (target) => seats.probe(target),
    openPorts: () => observer.openPorts(),
    podPorts: () => observer.podPorts(),
  });
  seats.probe = (target) => (target.instanceId === undefined ? way.probePod(target) : probeNode(target));
  ends.push(() => way.close());
  void followClientsWay(way, world, complain, life.signal);
  say(`${options.nodes} machines are booting, each with a kubelet that will register its Node`);

  const controllers = new Set(Object.keys(controllerTable) as CanonicalName[]);
  const replicas = await installFairlead({ world, supervision, folder, cluster, kube, observer, network, awsUrl: aws.url, controllers });
  ends.push(() => replicas.close());
  await replicas.start(life.signal);
  const handlers = handlersOf({ world, supervision, folder, cluster, kube, cloud, awsUrl: aws.url });
  ends.push(() => handlers.close());
  say("two replicas of fairlead controller-manager are starting; one of them will lead");
  const balancing = await startBalancerProgram({ world, supervision, folder, cluster, kube, network, awsUrl: aws.url }, life.signal);
  say("fairlead load-balancer-controller is starting: it serves Ingresses, Gateways, and Services with its class");

  const volumes = await startVolumes({ world, supervision, folder, cluster, kube, observer, awsUrl: aws.url, complain }, life.signal);
  say("fairlead ebs-csi-driver is starting: it serves claims, without sidecars");

  let throttle: string | undefined;
  return {
    world,
    cloud,
    machines,
    layout,
    replicas,
    handlers,
    volumes,
    kube,
    controllers,
    access: await accessOf(world, folder, {
      KUBECONFIG: kubeconfig,
      AWS_ENDPOINT_URL: aws.url,
      AWS_REGION: region,
      // The older aws command knows only this one.
      AWS_DEFAULT_REGION: region,
      AWS_ACCESS_KEY_ID: keys.user,
      AWS_SECRET_ACCESS_KEY: keys.secret,
    }),
    picture: () =>
      observer.picture({
        title: `${clusterText(cluster)} · simulated AWS ${region}`,
        cloud,
        machines,
        calls,
        fairleadKey: keys.fairlead,
        throttling: () => throttle !== undefined,
        replicas,
        steps: [...replicas.steps(), ...balancing.taken].sort((a, b) => a.at - b.at),
        localPorts: way.ports(),
      }),
    throttle(on) {
      if (on === (throttle !== undefined)) return;
      if (throttle === undefined) throttle = cloud.controls.faults.add({ action: "*", effect: { kind: "throttle" } });
      else {
        cloud.controls.faults.remove(throttle);
        throttle = undefined;
      }
    },
    close,
  };
}

/** Where the sandbox's own parts write what they stumble over: it is retried, and of interest only to who works on them. */
type Complain = (message: string, error: unknown) => void;

function complaints(world: World, folder: string): Complain {
  return (message, error) => {
    const time = new Date(world.clock.now()).toISOString();
    appendFile(join(folder, "sandbox.log"), `${time} ${message}: ${error instanceof Error ? error.message : error}\n`).catch(() => {});
  };
}

/** Lets sockets follow load balancers and Services for as long as the sandbox lives. */
async function followClientsWay(way: ClientsWay, world: World, complain: Complain, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await way.follow().catch((error: unknown) => complain("a socket for clients failed", error));
    await sleep(world.clock, pace.followMs, signal).catch(() => {});
  }
}

interface Population extends Pick<SandboxOptions, "nodes" | "withProviderId"> {
  readonly complain: Complain;
  readonly kube: KubeClient;
  readonly observer: Observer;
  readonly machines: Machines;
  readonly signal: AbortSignal;
}

/** Machines, their kubelets and the stand-in for kube-controller-manager. Returns who answers health checks. */
function populate({ nodes, withProviderId, kube, observer, machines, complain, signal }: Population): Probe {
  const openPorts = () => observer.openPorts();
  const kubelets = new Kubelets({ kube, machines, withProviderId, heartbeatMs: pace.heartbeatMs, openPorts, complain });
  void kubelets.run(signal);
  void endPods(kube, observer.pods, complain, signal);
  void standInForKubeControllerManager({ kube, nodes: observer.nodes, graceMs: pace.graceMs, complain }, signal);
  for (let count = 0; count < nodes; count++) machines.launch();
  return (target) => kubelets.probe(target);
}

/** Somebody else listens where the user wanted the sandbox to. */
export class PortBusy extends Error {
  override readonly name = "PortBusy";
  constructor(port: number, flag: string, options: ErrorOptions) {
    super(
      `port ${port} is in use by another program; give another one with --${flag}, or leave the flag out to take any free port`,
      options,
    );
  }
}

function busy(port: number, flag: string): (error: unknown) => never {
  return (cause) => {
    if ((cause as NodeJS.ErrnoException).code === "EADDRINUSE") throw new PortBusy(port, flag, { cause });
    throw cause;
  };
}

async function client(world: World, kubeconfig: string): Promise<KubeClient> {
  const host: Host = { world, log: silentLog, metrics: newRegistry() };
  return new KubeClient({ host, config: await loadKubeConfig(world, { kubeconfig }), gate: openGate(), userAgent: "fairlead-sandbox" });
}

async function accessOf(world: World, folder: string, variables: Access["variables"]): Promise<Access> {
  const file = join(folder, "env");
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'\n`);
  await world.files.write(file, lines.join(""), 0o600);
  return { file, variables, cloudConfig: join(folder, cloudConfigFile), clusterName, logs: join(folder, "*.log") };
}

function clusterText({ kind }: SandboxCluster): string {
  return kind === "real" ? "real kube-apiserver" : "embedded Kubernetes API";
}
