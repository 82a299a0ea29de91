/** Services of the suite, and their load balancers as AWS has them. */
import type { LoadBalancerDescription } from "@aws-sdk/client-elastic-load-balancing";
import type { Listener, LoadBalancer, TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import { services } from "../kube/builtin.ts";
import { type Context, eventually, expect, hostOf, labelsOf, mark, nameOf } from "./context.ts";

const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

export interface ServiceOptions {
  /** By what stands after `service.beta.kubernetes.io/aws-load-balancer-`. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ports?: readonly { readonly port: number; readonly protocol?: "TCP" | "UDP" }[];
  readonly sourceRanges?: readonly string[];
}

export interface Balanced {
  readonly name: string;
  /** Of its load balancer in AWS. */
  readonly balancer: string;
}

/** Makes a Service of type LoadBalancer. */
export async function createService(context: Context, what: string, options: ServiceOptions = {}): Promise<Balanced> {
  const { kube, namespace, run, ask, made } = context;
  const { annotations = {}, ports = [{ port: 80 }], sourceRanges } = options;
  const name = nameOf(context, what);
  const tagged = { ...annotations, "additional-resource-tags": `${mark}=${run}` };
  const { metadata } = await kube.create(
    services,
    {
      metadata: {
        name,
        namespace,
        labels: labelsOf(context),
        annotations: Object.fromEntries(Object.entries(tagged).map(([key, value]) => [prefix + key, value])),
      },
      spec: {
        type: "LoadBalancer",
        selector: labelsOf(context),
        ports: ports.map(({ port, protocol = "TCP" }) => ({ name: `p${port}`, port, targetPort: 8080, protocol })),
        ...(sourceRanges && { loadBalancerSourceRanges: [...sourceRanges] }),
      },
    },
    { signal: ask.signal },
  );
  made.set(name, metadata.uid);
  return { name, balancer: balancerName(metadata.uid) };
}

/** The name that a Service's load balancer has, unless it is given another. */
export function balancerName(uid: string): string {
  return `a${uid.replaceAll("-", "")}`.slice(0, 32);
}

/** The address of a Service, when it is published. */
export function address(context: Context, { name }: Balanced): Promise<string> {
  const { kube, namespace, ask } = context;
  return eventually(context, async () => {
    const { status } = await kube.get(services, { namespace, name }, { signal: ask.signal });
    return hostOf(status?.loadBalancer?.ingress?.[0]?.hostname, `Service ${name}`);
  });
}

export async function annotate({ kube, namespace, ask }: Context, { name }: Balanced, key: string, value: string | null): Promise<void> {
  await kube.patch(
    services,
    { namespace, name },
    { merge: { metadata: { annotations: { [prefix + key]: value } } } },
    { signal: ask.signal },
  );
}

/** As the reference's suite ends each case: a Service that no longer asks for a load balancer loses it. */
export async function toClusterIp(context: Context, balanced: Balanced): Promise<void> {
  const { kube, namespace, ask, cloud } = context;
  await kube.patch(
    services,
    { namespace, name: balanced.name },
    { merge: { spec: { type: "ClusterIP", loadBalancerSourceRanges: null } } },
    { signal: ask.signal },
  );
  await eventually(context, async () => {
    const [classic, network] = await Promise.all([
      cloud.classicLoadBalancers.byName(balanced.balancer, ask),
      cloud.loadBalancers.byName(balanced.balancer, ask),
    ]);
    expect(classic === undefined && network === undefined, `load balancer ${balanced.balancer} is still there`);
  });
}

export async function classicOf({ cloud, ask }: Context, { balancer }: Balanced): Promise<LoadBalancerDescription> {
  const found = await cloud.classicLoadBalancers.byName(balancer, ask);
  expect(found !== undefined, `there is no classic load balancer ${balancer}`);
  return found;
}

export async function networkOf({ cloud, ask }: Context, { balancer }: Balanced): Promise<LoadBalancer> {
  const found = await cloud.loadBalancers.byName(balancer, ask);
  expect(found !== undefined, `there is no network load balancer ${balancer}`);
  return found;
}

export interface Behind {
  readonly listener: Listener;
  readonly group: TargetGroup;
  /** Ids of instances. */
  readonly targets: readonly string[];
}

/** What the first listener of a network load balancer leads to. */
export async function behindFirstListener(context: Context, balanced: Balanced): Promise<Behind> {
  const { cloud, ask } = context;
  const { LoadBalancerArn: arn = "" } = await networkOf(context, balanced);
  const [listener] = await cloud.loadBalancers.listeners(arn, ask);
  const groupArn = listener?.DefaultActions?.[0]?.TargetGroupArn;
  expect(listener !== undefined && groupArn !== undefined, `load balancer ${balanced.balancer} has no listener that forwards`);
  const group = await cloud.loadBalancers.targetGroupAt(groupArn, ask);
  expect(group !== undefined, `target group ${groupArn} is not there`);
  const health = await cloud.loadBalancers.targetHealth(groupArn, ask);
  return { listener, group, targets: health.flatMap(({ Target }) => Target?.Id ?? []).sort() };
}
