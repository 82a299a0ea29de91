/** A cluster, an AWS account and the load balancer controller that serves Gateways, in one process on virtual time. */
import type { TestContext } from "node:test";
import "../../src/aws/sdk/acm.ts";
import "../../src/aws/sdk/shield.ts";
import "../../src/aws/sdk/tagging.ts";
import "../../src/aws/sdk/wafv2.ts";
import "../../src/commands/load-balancer-controller/gateway.ts";
import type { GatewayStatus } from "../../src/loadbalancers/gateway/status.ts";
import type { Condition } from "../../src/loadbalancers/gateway/view.ts";
import { BindingWorld, type BindingWorldOptions } from "./binding-world.ts";
import { configurationDefinitions, gatewayApiDefinitions } from "./gateway-definitions.ts";
import { loadClients } from "./service-world.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const gatewayApi = "/apis/gateway.networking.k8s.io/v1";
const aws = "/apis/gateway.k8s.aws/v1";

export interface GatewayWorldOptions extends BindingWorldOptions {
  /** Whether the definitions are there from the start. */
  readonly defined?: boolean;
}

export async function gatewayWorld(options: GatewayWorldOptions = {}): Promise<GatewayWorld> {
  await loadClients();
  const world = new GatewayWorld(options);
  await world.prepare(options.nodes ?? 2);
  if (options.defined ?? true) await world.define();
  return world;
}

/** One that ends with its test, with a pod behind each of these Services. */
export async function gatewayBed(t: TestContext, ...services: readonly string[]): Promise<GatewayWorld> {
  const world = await gatewayWorld();
  t.after(() => world.close());
  for (const name of services) {
    await world.service(name);
    await world.pods(name, 1);
  }
  return world;
}

/** Time for everything that is under way to come to rest. */
export const settle = (world: GatewayWorld, ms = 60_000) => world.world.advance(ms);

/** Of a Gateway: the LoadBalancerConfiguration `own` says more. */
export const configured = {
  infrastructure: { parametersRef: { group: "gateway.k8s.aws", kind: "LoadBalancerConfiguration", name: "own" } },
};

/** `HTTP:80`, `HTTPS:443 *.example.com`; or more of a listener. */
export type ListenerWish = string | (object & { readonly name: string });

/** Where a route leads: `web:80`, `web:80 weight`. */
export type Backend = string | object;

export interface StoredStatus {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly generation?: number;
    readonly resourceVersion: string;
    readonly finalizers?: readonly string[];
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status?: Partial<GatewayStatus> & {
    readonly parents?: readonly {
      readonly controllerName: string;
      readonly parentRef: { readonly name: string };
      readonly conditions: readonly Condition[];
    }[];
    readonly supportedFeatures?: readonly { readonly name: string }[];
    readonly accepted?: boolean;
    readonly message?: string;
  };
}

export class GatewayWorld extends BindingWorld {
  /** Installs the definitions, and makes a class of each kind: `alb` and `nlb`. */
  async define(): Promise<void> {
    for (const definition of [...gatewayApiDefinitions, ...configurationDefinitions]) await this.say("POST", definitions, definition);
    for (const name of ["alb", "nlb"]) await this.gatewayClass(name, name);
  }

  /** Starts the controller with Gateways. */
  serve(...flags: readonly string[]): () => void {
    return this.start("--feature-gates=ALBGatewayAPI=true,NLBGatewayAPI=true", "--default-target-type=ip", ...flags);
  }

  async gatewayClass(name: string, controller: string, parametersRef?: object): Promise<void> {
    const spec = { controllerName: `gateway.k8s.aws/${controller}`, ...(parametersRef && { parametersRef }) };
    await this.say("POST", `${gatewayApi}/gatewayclasses`, objectOf("gatewayclasses", { metadata: { name }, spec }));
  }

  async gateway(name: string, listeners: readonly ListenerWish[], spec: object = {}, annotations: object = {}): Promise<void> {
    const full = { gatewayClassName: "alb", listeners: listeners.map(listenerOf), ...spec };
    const gateway = objectOf("gateways", { metadata: { name, annotations }, spec: full });
    await this.say("POST", `${gatewayApi}/namespaces/default/gateways`, gateway);
  }

  /** An HTTPRoute on the Gateway `edge`, unless said otherwise, of one rule per path. */
  async route(name: string, paths: Readonly<Record<string, readonly Backend[]>>, spec: object = {}, namespace = "default"): Promise<void> {
    const rules = Object.entries(paths).map(([value, backends]) => ({
      matches: [{ path: { type: "PathPrefix", value } }],
      backendRefs: backends.map(backendOf),
    }));
    await this.add("httproutes", name, { parentRefs: [{ name: "edge" }], rules, ...spec }, namespace);
  }

  /** Any other object of the Gateway API. */
  add(plural: string, name: string, spec: object, namespace = "default"): Promise<void> {
    return this.say("POST", `${pathOf(plural)}/namespaces/${namespace}/${plural}`, objectOf(plural, { metadata: { name }, spec }));
  }

  change(plural: string, name: string, patch: object, namespace = "default"): Promise<void> {
    const place = plural === "gatewayclasses" ? plural : `namespaces/${namespace}/${plural}`;
    return this.say("PATCH", `${pathOf(plural)}/${place}/${name}`, patch, "merge");
  }

  drop(plural: string, name: string, namespace = "default"): Promise<void> {
    const place = plural === "gatewayclasses" ? plural : `namespaces/${namespace}/${plural}`;
    return this.say("DELETE", `${pathOf(plural)}/${place}/${name}`);
  }

  get(plural: string, name: string): StoredStatus | undefined {
    const group = pathOf(plural).split("/")[2];
    return this.cluster.objects(`${plural}.${group}`).find(({ metadata }) => metadata.name === name) as StoredStatus | undefined;
  }

  address(name = "edge"): string {
    return this.get("gateways", name)?.status?.addresses?.[0]?.value ?? "";
  }

  /** Conditions of an object, `Accepted=True Accepted`; of a route those of its first parent. */
  conditions(plural: string, name: string): readonly string[] {
    const { conditions, parents } = this.get(plural, name)?.status ?? {};
    return texts(conditions ?? parents?.[0]?.conditions ?? []);
  }

  /** Until each is programmed, and then until nothing happens any more. */
  async programmed(...names: readonly string[]): Promise<void> {
    const isProgrammed = (name: string) => this.conditions("gateways", name).includes("Programmed=True Programmed");
    await this.until("Gateways are programmed", () => names.every(isProgrammed), 10 * 60_000).catch((error: unknown) => {
      const state = names.map((name) => JSON.stringify(this.get("gateways", name)?.status));
      throw new Error([String(error), ...this.lines.slice(-20), ...state, ...names.flatMap((name) => this.events(name))].join("\n"));
    });
    await this.world.advance(60_000);
  }

  /** Everything of a kind in the account: `elbv2/rules`. */
  all<T = Record<string, unknown>>(kind: string): readonly T[] {
    return Object.values(this.aws.controls.snapshot()[kind] ?? {}) as T[];
  }

  bindings(): readonly { readonly metadata: { readonly name: string; readonly namespace: string } }[] {
    return this.cluster.objects("targetgroupbindings.elbv2.k8s.aws") as never;
  }

  /** Calls that change something, by action. */
  mutations(): Readonly<Record<string, number>> {
    return Object.fromEntries(Object.entries(this.calls()).filter(([action]) => !/^(Describe|Get|List)/.test(action)));
  }
}

export const texts = (conditions: readonly Condition[]) => conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

const pathOf = (plural: string) =>
  plural.endsWith("configurations") ? aws : plural === "referencegrants" ? gatewayApi.replace(/v1$/, "v1beta1") : gatewayApi;

function objectOf(plural: string, object: object): object {
  const definition = [...gatewayApiDefinitions, ...configurationDefinitions].find(({ spec }) => spec.names.plural === plural);
  return { apiVersion: pathOf(plural).replace("/apis/", ""), kind: definition?.spec.names.kind, ...object };
}

export function listenerOf(wish: ListenerWish): object {
  if (typeof wish !== "string") return wish;
  const [place = "", hostname] = wish.split(" ");
  const [protocol = "", port] = place.split(":");
  return { name: `${protocol.toLowerCase()}-${port}`, protocol, port: Number(port), ...(hostname && { hostname }) };
}

export function backendOf(backend: Backend): object {
  if (typeof backend !== "string") return backend;
  const [place = "", weight] = backend.split(" ");
  const [name, port] = place.split(":");
  return { name, port: Number(port), ...(weight && { weight: Number(weight) }) };
}
