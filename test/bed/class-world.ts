/** A cluster, an AWS account and the load balancer controller that serves Services with its class, in one process on virtual time. */
import {
  AddTagsCommand,
  CreateListenerCommand,
  ElasticLoadBalancingV2Client,
  ModifyLoadBalancerAttributesCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import "../../src/commands/load-balancer-controller/services.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { BindingWorld, type BindingWorldOptions } from "./binding-world.ts";
import { loadClients } from "./service-world.ts";

const prefix = "service.beta.kubernetes.io/";

export async function classWorld(options: BindingWorldOptions = {}): Promise<ClassWorld> {
  await loadClients();
  const world = new ClassWorld(options);
  await world.prepare(options.nodes ?? 2);
  return world;
}

/** Names without a slash are those of annotations after `aws-load-balancer-`; `/name` leaves that out. */
export type Annotations = Readonly<Record<string, string | null>>;

interface StoredService {
  readonly metadata: { readonly finalizers?: readonly string[]; readonly uid: string };
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly hostname: string; readonly ports?: readonly object[] }[] };
  };
}

export interface StoredBinding {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: Readonly<Record<string, unknown>> & { readonly targetGroupARN: string };
}

export class ClassWorld extends BindingWorld {
  /** Starts the controller with Services of its class. */
  serve(...flags: readonly string[]): () => void {
    return this.start("--feature-gates=EnableServiceController=true", ...flags);
  }

  /** A Service of the class, with pods behind it. */
  async classService(name: string, annotations: Annotations = {}, spec: object = {}, pods = 1): Promise<void> {
    await this.service(name, { type: "LoadBalancer", loadBalancerClass: "service.k8s.aws/nlb", ...spec }, keyed(annotations));
    if (pods > 0) await this.pods(name, pods);
  }

  /** Changes annotations (null takes one away) and, where given, the spec. */
  change(name: string, annotations: Annotations, spec?: object): Promise<void> {
    const body = { metadata: { annotations: keyed(annotations) }, ...(spec && { spec }) };
    return this.say("PATCH", `/api/v1/namespaces/default/services/${name}`, body, "merge");
  }

  drop(name: string): Promise<void> {
    return this.say("DELETE", `/api/v1/namespaces/default/services/${name}`);
  }

  get(name: string): StoredService | undefined {
    return this.cluster.objects("services").find(({ metadata }) => metadata.name === name) as StoredService | undefined;
  }

  hostname(name: string): string {
    return this.get(name)?.status?.loadBalancer?.ingress?.[0]?.hostname ?? "";
  }

  /** Until its address is published, and then until nothing happens any more. */
  async settled(...names: readonly string[]): Promise<void> {
    await this.until("addresses are published", () => names.every((name) => this.hostname(name) !== ""), 120_000).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}\n${this.lines.slice(-20).join("\n")}\n${names.flatMap((name) => this.events(name)).join("\n")}`);
      },
    );
    await this.world.advance(60_000);
  }

  /** Everything of a kind in the account: `elbv2/listeners`. */
  all<T = Record<string, unknown>>(kind: string): readonly T[] {
    return Object.values(this.aws.controls.snapshot()[kind] ?? {}) as T[];
  }

  /** Somebody tags something in AWS. */
  async tag(arn: string, tags: Readonly<Record<string, string>>): Promise<void> {
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    await new ElasticLoadBalancingV2Client(sdkConfig(this.aws)).send(new AddTagsCommand({ ResourceArns: [arn], Tags }));
  }

  /** Somebody makes a listener by hand. */
  async listen(LoadBalancerArn: string, Port: number, TargetGroupArn: string): Promise<void> {
    const DefaultActions = [{ Type: "forward" as const, TargetGroupArn }];
    const client = new ElasticLoadBalancingV2Client(sdkConfig(this.aws));
    await client.send(new CreateListenerCommand({ LoadBalancerArn, Port, Protocol: "TCP", DefaultActions }));
  }

  /** Somebody protects a load balancer in AWS. */
  async protect(arn: string): Promise<void> {
    const Attributes = [{ Key: "deletion_protection.enabled", Value: "true" }];
    const client = new ElasticLoadBalancingV2Client(sdkConfig(this.aws));
    await client.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn: arn, Attributes }));
  }

  bindings(): readonly StoredBinding[] {
    return this.cluster.objects("targetgroupbindings.elbv2.k8s.aws") as never;
  }

  /** Calls that change something, by action. */
  mutations(): Readonly<Record<string, number>> {
    return Object.fromEntries(Object.entries(this.calls()).filter(([action]) => !/^(Describe|Get|List)/.test(action)));
  }

  /** Calls that read, in all. */
  reads(): number {
    return Object.entries(this.calls()).reduce((sum, [action, count]) => sum + (/^(Describe|Get|List)/.test(action) ? count : 0), 0);
  }
}

const keyed = (annotations: Annotations) =>
  Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => {
      if (name.startsWith("/")) return [prefix + name.slice(1), value];
      return [name.includes("/") ? name : `${prefix}aws-load-balancer-${name}`, value];
    }),
  );
