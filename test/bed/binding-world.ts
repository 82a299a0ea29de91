/**
 * A cluster, an AWS account and the load balancer controller in one process on virtual time, with target groups of the
 * user's own, pods that are made by hand, and the slices that tell of them.
 */
import { AllocateAddressCommand, EC2Client } from "@aws-sdk/client-ec2";
import { Clouds } from "../../src/aws/cloud.ts";
import { describeInstances } from "../../src/aws/ec2-actions.ts";
import {
  createListener,
  createLoadBalancer,
  createTargetGroup,
  deleteTargetGroup,
  deregisterTargets,
  describeLoadBalancers,
  registerTargets,
} from "../../src/aws/elbv2-actions.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { clusterPrograms } from "../../src/commands/host/cluster-programs.ts";
import { processFlags } from "../../src/commands/host/flags.ts";
import { operate as operateHost } from "../../src/commands/host/operate.ts";
import { settle } from "../../src/commands/host/settle.ts";
import "../../src/commands/load-balancer-controller/balancers.ts";
import { parseOptions } from "../../src/commands/load-balancer-controller/flags.ts";
import { operate } from "../../src/commands/load-balancer-controller/operate.ts";
import type { Life } from "../../src/commands/long-running.ts";
import type { BindingSpec, TargetGroupBinding } from "../../src/loadbalancers/targets/binding.ts";
import "../../src/loadbalancers/targets/binding-controller.ts";
import { targetGroupBindingDefinition } from "../../src/loadbalancers/targets/crd.ts";
import "../../src/loadbalancers/targets/informers.ts";
import { quicAnnotation } from "../../src/loadbalancers/targets/quic.ts";
import { parseFlags } from "../../src/runtime/flags.ts";
import { openGate } from "../../src/runtime/gate.ts";
import { bodyText, type HttpRequest, type Transport } from "../../src/runtime/http.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { type Cloud, type CloudOptions, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Target } from "../../src/sandbox/cloud/elbv2/state.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { createEmbeddedCluster, type EmbeddedCluster, type EmbeddedClusterOptions } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { loadClients } from "./service-world.ts";

const region = "us-east-1";
const shapes = new Shapes();

export interface BindingWorldOptions {
  readonly seed?: number;
  readonly nodes?: number;
  readonly ipv6?: boolean;
  readonly probe?: CloudOptions["probe"];
  readonly zones?: number;
  readonly cluster?: Omit<EmbeddedClusterOptions, "world">;
}

export interface GroupWish {
  readonly type?: "instance" | "ip" | "lambda";
  readonly protocol?: "TCP" | "HTTP" | "QUIC";
  readonly addressType?: "ipv4" | "ipv6";
  /** Whether a load balancer forwards to it: only then is anything healthy. */
  readonly used?: boolean;
}

export interface PodWish {
  readonly gates?: readonly string[];
  readonly ready?: boolean;
  readonly terminating?: boolean;
  /** An interface of its own. */
  readonly eni?: string;
  /** In its environment, as it is given to pods for QUIC. */
  readonly quicId?: string;
}

interface MadePod extends PodWish {
  readonly name: string;
  readonly ip: string;
}

export async function bindingWorld(options: BindingWorldOptions = {}): Promise<BindingWorld> {
  await loadClients();
  const world = new BindingWorld(options);
  await world.prepare(options.nodes ?? 2);
  return world;
}

export class BindingWorld {
  readonly world: VirtualWorld;
  readonly aws: Cloud;
  readonly network: Network;
  readonly cluster: EmbeddedCluster;
  readonly lines: string[] = [];
  /** Of whichever controller runs, or ran last. */
  metrics = newRegistry();
  /** What the controller has written to the cluster, Events and Leases left out: `PATCH /path`. */
  readonly writes: string[] = [];
  /** What it has asked of the API server, as roles know it: `patch pods/status`. */
  readonly asked = new Set<string>();
  /** Called after everything that a controller has changed, in AWS or in the cluster: by which, the first being 1, and what. */
  onWrite: (who: number, what: string) => void = () => {};
  readonly nodes = new Map<string, string>();
  readonly #services = new Map<string, MadePod[]>();
  readonly #clouds: Clouds;
  readonly #user: ReturnType<Clouds["in"]>;
  readonly #ends: (() => void)[] = [];
  #pods = 0;
  #starts = 0;
  #onMutation: (action: string) => void = () => {};

  constructor({ seed = 1, ipv6 = false, probe, zones = 3, cluster = {} }: BindingWorldOptions) {
    this.world = virtualWorld(seed, { environment: { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth" } });
    this.aws = createCloud({ world: this.world, seed, region, shapes, ...(probe && { probe }) });
    this.network = standardNetwork(this.aws, { clusterId: "test", ipv6, zones });
    this.cluster = createEmbeddedCluster({ world: this.world, ...cluster });
    const host = { world: this.world, log: openLogs(this.world.clock, quiet).log, metrics: newRegistry() };
    const settings = { ...noSettings, region };
    this.#clouds = new Clouds({ host, transport: this.aws.handle, gate: openGate(), settings, version: "test" });
    this.#user = this.#clouds.in(region);
  }

  async prepare(nodes: number): Promise<void> {
    await this.#user.preload(describeInstances);
    await this.#user.preload(describeLoadBalancers);
    await this.say("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", targetGroupBindingDefinition);
    await this.join(nodes);
  }

  async join(count: number, labels: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
    const names: string[] = [];
    for (const { id } of launchNodes(this.aws, this.network, count)) {
      const instance = this.aws.account.ec2.instances.update(id, { state: "running" });
      const name = instance.privateDnsName;
      await this.say("POST", "/api/v1/nodes", { metadata: { name, labels }, spec: { providerID: `aws:///${instance.zone}/${id}` } });
      await this.say("PATCH", `/api/v1/nodes/${name}/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } });
      this.nodes.set(name, id);
      names.push(name);
    }
    return names;
  }

  /** Starts the controller, alone in charge. Returns what ends it at this very moment. */
  start(...flags: readonly string[]): () => void {
    const argv = [
      "--cluster-name=test",
      `--aws-region=${region}`,
      `--aws-vpc-id=${this.network.vpcId}`,
      "--enable-leader-election=false",
      "--metrics-bind-addr=0",
      "--health-probe-bind-addr=0",
      // Worlds that serve Ingresses, Services or Gateways open their gates again.
      "--feature-gates=IngressController=false,EnableServiceController=false,ALBGatewayAPI=false,NLBGatewayAPI=false",
      ...flags,
    ];
    return this.#live((life) => operate({ ...life, options: parseOptions(argv).values, master: "http://cluster" }));
  }

  /** The same, hosted by `fairlead cluster` beside whatever else the file names. */
  startHosted(config: string): () => void {
    const table = processFlags("fairlead-cluster");
    const argv = ["--config=/etc/cluster.yaml", "--secure-port=0", "--master=http://cluster", "--cloud-config=/etc/cloud"];
    return this.#live(async (life) => {
      const { files } = this.world;
      await files.write("/etc/cluster.yaml", config, 0o600);
      const { vpcId, privateSubnetIds } = this.network;
      const place = `Region = ${region}\nVPC = ${vpcId}\nSubnetID = ${privateSubnetIds[0]}`;
      await files.write("/etc/cloud", `[Global]\nKubernetesClusterID = test\n${place}\n`, 0o600);
      await operateHost("fairlead-cluster", await settle(parseFlags(table, argv), table, clusterPrograms, files), life);
    });
  }

  #live(run: (life: Life) => Promise<void>): () => void {
    let alive = true;
    const who = ++this.#starts;
    this.metrics = newRegistry();
    const dead = new Promise<never>(() => {});
    const over =
      (send: Transport, after: (request: HttpRequest) => void): Transport =>
      async (request) => {
        if (!alive) return dead;
        const answer = await send(request);
        if (!alive) return dead;
        after(request);
        // The process may have died by what it did just now: then it never learns the answer.
        return alive ? answer : dead;
      };
    const kube = over(this.cluster.send, ({ method, url }) => {
      this.#note(method, url);
      if (method === "GET" || /\/(events|leases)(\/|$)/.test(url.pathname)) return;
      this.writes.push(`${method} ${url.pathname}`);
      this.onWrite(who, `${method} ${url.pathname}`);
    });
    const { clock } = this.world;
    const own = {
      ...this.world,
      clock: { ...clock, after: (ms: number, run: () => void) => clock.after(ms, () => void (alive && run())) },
    };
    const logs = openLogs(clock, { ...quiet, destination: { write: (line) => void (alive && this.lines.push(line)), flush() {} } });
    run({
      version: "v0.0.0",
      host: { world: own, log: logs.log, metrics: this.metrics },
      logs,
      network: {
        aws: over(this.aws.handle, (request) => this.#tellMutation(who, request)),
        kube: () => ({ send: kube, close: async () => {} }),
      },
      stop: new AbortController().signal,
    }).catch((error: unknown) => this.lines.push(String(error)));
    const end = () => {
      alive = false;
    };
    this.#ends.push(end);
    return end;
  }

  /** Called after every call of the controller that changes something in AWS. Returns the function that ends it. */
  onAwsMutation(handler: (action: string) => void): () => void {
    this.#onMutation = handler;
    return () => {
      this.#onMutation = () => {};
    };
  }

  #tellMutation(who: number, { body }: HttpRequest): void {
    const action = /(?:^|&)Action=([A-Za-z]+)/.exec(typeof body === "string" ? body : "")?.[1] ?? "";
    if (action === "" || /^(Describe|Get|List)/.test(action)) return;
    this.#onMutation(action);
    this.onWrite(who, action);
  }

  /** A target group of the user's own; returns its ARN. */
  async group(name: string, { type = "ip", protocol = "TCP", addressType, used = false }: GroupWish = {}): Promise<string> {
    const lambda = type === "lambda";
    const ask = { cause: "user", signal: new AbortController().signal };
    const place = lambda
      ? {}
      : { Protocol: protocol, Port: 8080, VpcId: this.network.vpcId, ...(addressType && { IpAddressType: addressType }) };
    const made = await this.#user.call(createTargetGroup, { Name: name, TargetType: type, ...place }, ask);
    const arn = made.TargetGroups?.[0]?.TargetGroupArn ?? "";
    if (used) {
      const kind = protocol === "TCP" ? ("network" as const) : ("application" as const);
      const lb = await this.#user.call(
        createLoadBalancer,
        { Name: `${name}-lb`, Type: kind, Subnets: [...this.network.publicSubnetIds] },
        ask,
      );
      const LoadBalancerArn = lb.LoadBalancers?.[0]?.LoadBalancerArn ?? "";
      const DefaultActions = [{ Type: "forward" as const, TargetGroupArn: arn }];
      await this.#user.call(createListener, { LoadBalancerArn, Port: 80, Protocol: protocol, DefaultActions }, ask);
    }
    return arn;
  }

  /** Loads the code that assumes roles: virtual time does not wait for files. */
  async warmUp(arn: string): Promise<void> {
    const ask = { cause: "user", signal: new AbortController().signal };
    await this.#clouds.in(region, { arn, sessionName: "warm" }).call(describeLoadBalancers, {}, ask);
  }

  /** By whom each action that changes something was called last. */
  callers(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.aws.controls.journal.entries().map(({ action, principal }) => [action.replace(/^.*:/, ""), principal]));
  }

  /** Somebody else registers targets of theirs. */
  async register(arn: string, addresses: readonly string[]): Promise<void> {
    const ask = { cause: "user", signal: new AbortController().signal };
    const Targets = addresses.map((address) => ({ Id: address.replace(/:\d+$/, ""), Port: Number(/\d+$/.exec(address)?.[0]) }));
    await this.#user.call(registerTargets, { TargetGroupArn: arn, Targets }, ask);
  }

  /** Somebody in AWS deregisters everything, or deletes the group. */
  async tamper(arn: string, how: "deregister" | "delete"): Promise<void> {
    const ask = { cause: "user", signal: new AbortController().signal };
    const Targets = this.targets(arn).map((target) => ({ Id: target.replace(/:\d+$/, ""), Port: Number(/\d+$/.exec(target)?.[0]) }));
    if (how === "deregister") await this.#user.call(deregisterTargets, { TargetGroupArn: arn, Targets }, ask);
    else await this.#user.call(deleteTargetGroup, { TargetGroupArn: arn }, ask);
  }

  /** What is registered and not on its way out, as `id:port`, sorted. */
  targets(arn: string): readonly string[] {
    const all = Object.values(this.aws.controls.snapshot()["elbv2/targets"] ?? {}) as Target[];
    return all
      .filter(({ groupArn, drainingSince }) => groupArn === arn && drainingSince === undefined)
      .map(({ id, port }) => `${id}:${port}`)
      .toSorted();
  }

  async service(name: string, spec: object = {}, annotations: object = {}): Promise<void> {
    await this.say("POST", "/api/v1/namespaces/default/services", {
      metadata: { name, annotations },
      spec: { selector: { app: name }, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec },
    });
    this.#services.set(name, []);
    await this.#slice(name, "POST");
  }

  /** Adds pods to a Service, in one change of its slice; returns their names. */
  async pods(service: string, count: number, wish: PodWish = {}): Promise<readonly string[]> {
    const made: MadePod[] = [];
    for (let i = 0; i < count; i++) {
      const number = ++this.#pods;
      const pod = { ...wish, name: `${service}-${number}`, ip: `10.0.${32 + Math.floor(number / 200)}.${(number % 200) + 10}` };
      await this.say("POST", "/api/v1/namespaces/default/pods", {
        metadata: {
          name: pod.name,
          annotations: {
            ...(wish.eni && { "vpc.amazonaws.com/pod-eni": JSON.stringify([{ eniId: wish.eni, privateIp: pod.ip }]) }),
            ...(wish.quicId && { [quicAnnotation]: "c" }),
          },
        },
        spec: {
          nodeName: [...this.nodes.keys()][0],
          containers: [
            {
              name: "c",
              image: "c:1",
              ports: [{ name: "web", containerPort: 8080 }],
              ...(wish.quicId && { env: [{ name: "AWS_LBC_QUIC_SERVER_ID", value: wish.quicId }] }),
            },
          ],
          readinessGates: (wish.gates ?? []).map((conditionType) => ({ conditionType })),
        },
      });
      const conditions = [{ type: "ContainersReady", status: "True" }];
      await this.say("PATCH", `/api/v1/namespaces/default/pods/${pod.name}/status`, { status: { podIP: pod.ip, conditions } });
      made.push(pod);
    }
    this.#services.set(service, [...(this.#services.get(service) ?? []), ...made]);
    await this.#slice(service, "PATCH");
    return made.map(({ name }) => name);
  }

  /** Changes what a slice says of a pod, or of several at once. */
  async turn(service: string, names: string | readonly string[], change: PodWish): Promise<void> {
    const pods = this.#services.get(service) ?? [];
    this.#services.set(
      service,
      pods.map((pod) => ([names].flat().includes(pod.name) ? { ...pod, ...change } : pod)),
    );
    await this.#slice(service, "PATCH");
  }

  /** Asks a pod to end: its slice says so at once, and it is there until it is removed. */
  async end(service: string, name: string, graceSeconds: number): Promise<void> {
    await this.say("DELETE", `/api/v1/namespaces/default/pods/${name}?gracePeriodSeconds=${graceSeconds}`);
    await this.turn(service, name, { ready: false, terminating: true });
  }

  /** Deletes a pod, and takes it out of its slice. */
  async remove(service: string, name: string): Promise<void> {
    this.#services.set(
      service,
      (this.#services.get(service) ?? []).filter((pod) => pod.name !== name),
    );
    await this.#slice(service, "PATCH");
    await this.say("DELETE", `/api/v1/namespaces/default/pods/${name}?gracePeriodSeconds=0`);
  }

  addresses(service: string): readonly string[] {
    return (this.#services.get(service) ?? []).map(({ ip }) => `${ip}:8080`).toSorted();
  }

  /** The addresses of these pods, in their order. */
  addressesOf(service: string, names: readonly string[]): readonly string[] {
    const all = this.#services.get(service) ?? [];
    return names.map((name) => `${all.find((pod) => pod.name === name)?.ip}:8080`);
  }

  /** The pods whose gate is open. */
  passed(gate: string): ReadonlySet<string> {
    const pods = this.cluster.objects("pods") as unknown as {
      metadata: { name: string };
      status?: { conditions?: { type: string; status: string }[] };
    }[];
    const open = pods.filter(({ status }) => status?.conditions?.some((each) => each.type === gate && each.status === "True"));
    return new Set(open.map(({ metadata }) => metadata.name));
  }

  gate(pod: string, gate: string): { readonly status: string; readonly reason?: string; readonly message?: string } | undefined {
    const found = this.cluster.objects("pods").find(({ metadata }) => metadata.name === pod) as
      | { status?: { conditions?: { type: string; status: string; reason?: string; message?: string }[] } }
      | undefined;
    return found?.status?.conditions?.find(({ type }) => type === gate);
  }

  async bind(name: string, spec: Partial<BindingSpec>): Promise<void> {
    const full = { serviceRef: { name: "web", port: 80 }, ...spec };
    await this.say("POST", "/apis/elbv2.k8s.aws/v1beta1/namespaces/default/targetgroupbindings", {
      apiVersion: "elbv2.k8s.aws/v1beta1",
      kind: "TargetGroupBinding",
      metadata: { name },
      spec: full,
    });
  }

  edit(name: string, patch: object): Promise<void> {
    return this.say("PATCH", `/apis/elbv2.k8s.aws/v1beta1/namespaces/default/targetgroupbindings/${name}`, patch, "merge");
  }

  unbind(name: string): Promise<void> {
    return this.say("DELETE", `/apis/elbv2.k8s.aws/v1beta1/namespaces/default/targetgroupbindings/${name}`);
  }

  binding(name: string): TargetGroupBinding | undefined {
    return this.cluster.objects("targetgroupbindings.elbv2.k8s.aws").find(({ metadata }) => metadata.name === name) as
      | TargetGroupBinding
      | undefined;
  }

  condition(name: string, type = "Ready") {
    return this.binding(name)?.status?.conditions?.find((each) => each.type === type);
  }

  events(name: string): readonly string[] {
    return this.cluster
      .objects("events")
      .map((event) => event as unknown as { type: string; reason: string; message: string; involvedObject: { name: string } })
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }

  /** Elastic IPs of the user's. */
  async allocate(count: number): Promise<readonly string[]> {
    const client = new EC2Client(sdkConfig(this.aws));
    const made = await Promise.all(Array.from({ length: count }, () => client.send(new AllocateAddressCommand({ Domain: "vpc" }))));
    return made.map(({ AllocationId = "" }) => AllocationId);
  }

  /** Calls since the counters were last set to zero, by action. */
  calls(): Readonly<Record<string, number>> {
    const counts = Object.entries(this.aws.controls.journal.counts());
    return Object.fromEntries(
      counts.map(([action, results]) => [action.replace(/^.*:/, ""), Object.values(results).reduce((sum, n) => sum + n, 0)]),
    );
  }

  resetCalls(): void {
    this.aws.controls.journal.resetCounts();
    this.writes.length = 0;
  }

  until(what: string, predicate: () => boolean, limitMs = 120_000): Promise<void> {
    return this.world.runUntil(predicate, limitMs, what);
  }

  async say(method: string, path: string, body?: object, patch: "merge" | "strategic-merge" = "strategic-merge"): Promise<void> {
    const type = method === "PATCH" ? `application/${patch}-patch+json` : "application/json";
    const headers = { "content-type": type, "user-agent": "user" };
    const answer = await this.cluster.send({ method, url: new URL(path, "http://cluster"), headers, body: JSON.stringify(body ?? {}) });
    const text = await bodyText(answer);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  }

  close(): void {
    for (const end of this.#ends) end();
    this.cluster.close();
  }

  #note(method: string, url: URL): void {
    const path = /^\/(?:api|apis\/([^/]+))\/v1(?:beta1)?\/(?:namespaces\/[^/]+\/)?([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(
      url.pathname,
    );
    if (path === null) return;
    const [, group = "", plural = "", name, subresource] = path;
    const verb = method === "GET" && name === undefined ? (url.searchParams.has("watch") ? "watch" : "list") : verbs[method];
    this.asked.add(`${verb} ${[plural, subresource].filter(Boolean).join("/")}${group && `.${group}`}`);
  }

  #slice(service: string, method: "POST" | "PATCH"): Promise<void> {
    const path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    const endpoints = (this.#services.get(service) ?? []).map(({ name, ip, ready = true, terminating = false }) => ({
      addresses: [ip],
      conditions: { ready, serving: ready, terminating },
      targetRef: { kind: "Pod", namespace: "default", name },
    }));
    const body = {
      metadata: { name: `${service}-1`, labels: { "kubernetes.io/service-name": service } },
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
      endpoints,
    };
    return method === "POST" ? this.say(method, path, body) : this.say(method, `${path}/${service}-1`, { endpoints }, "merge");
  }
}

const verbs: Readonly<Record<string, string>> = { GET: "get", POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

const quiet = { format: "json", verbosity: 0, destination: { write() {}, flush() {} } } as const;
