/** Cases of Ingresses: an application load balancer, real requests by host and path, and nothing left of it. */
import type { LoadBalancer } from "@aws-sdk/client-elastic-load-balancing-v2";
import { services } from "../kube/builtin.ts";
import type { Case } from "./cases.ts";
import { type Context, eventually, expect, gone, hostOf, labelsOf, mark, NotHere, nameOf } from "./context.ts";
import { startServer } from "./pods.ts";
import { ingressClasses, ingresses } from "./resources.ts";

const controller = "ingress.k8s.aws/alb";
const prefix = "alb.ingress.kubernetes.io/";

interface Path {
  readonly path: string;
  readonly type: "Exact" | "Prefix";
  /** Which backend, as it was given to `startBackend`. */
  readonly to: string;
}

interface IngressOptions {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly rules: Readonly<Record<string, readonly Path[]>>;
}

/** One of the load balancer controller's classes, without parameters: those could put it behind somebody else's load balancer. */
async function ingressClass({ kube, ask }: Context): Promise<string> {
  const { items } = await kube.list(ingressClasses, { signal: ask.signal });
  const found = items.find(({ spec }) => spec?.controller === controller && spec.parameters === undefined);
  if (found === undefined) throw new NotHere(`an IngressClass of ${controller} without parameters, and the load balancer controller`);
  return found.metadata.name;
}

/** A Service of type NodePort and, where pods run, a server behind it that tells its name. */
async function startBackend(context: Context, what: string): Promise<void> {
  const { kube, namespace, ask } = context;
  const selector = { [`${mark}-backend`]: what };
  await kube.create(
    services,
    {
      metadata: { name: nameOf(context, what), namespace, labels: labelsOf(context) },
      spec: { type: "NodePort", selector: { ...labelsOf(context), ...selector }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
    },
    { signal: ask.signal },
  );
  if (context.pods) await startServer(context, what, { labels: selector });
}

async function createIngress(context: Context, what: string, { annotations = {}, rules }: IngressOptions): Promise<string> {
  const { kube, namespace, run, ask } = context;
  const name = nameOf(context, what);
  const all = { scheme: "internet-facing", "target-type": "instance", ...annotations, tags: `${mark}=${run}` };
  await kube.create(
    ingresses,
    {
      metadata: {
        name,
        namespace,
        labels: labelsOf(context),
        annotations: Object.fromEntries(Object.entries(all).map(([key, value]) => [prefix + key, value])),
      },
      spec: {
        ingressClassName: await ingressClass(context),
        rules: Object.entries(rules).map(([host, paths]) => ({
          host,
          http: {
            paths: paths.map(({ path, type, to }) => ({
              path,
              pathType: type,
              backend: { service: { name: nameOf(context, to), port: { name: "http" } } },
            })),
          },
        })),
      },
    },
    { signal: ask.signal },
  );
  return name;
}

function addressOf(context: Context, name: string): Promise<string> {
  const { kube, namespace, ask } = context;
  return eventually(context, async () => {
    const { status } = await kube.get(ingresses, { namespace, name }, { signal: ask.signal });
    return hostOf(status?.loadBalancer?.ingress?.[0]?.hostname, `Ingress ${name}`);
  });
}

async function deleteIngress({ kube, namespace, ask }: Context, name: string): Promise<void> {
  await gone(kube.delete(ingresses, { namespace, name }, { signal: ask.signal }));
}

async function balancerAt({ cloud, ask }: Context, hostname: string): Promise<LoadBalancer | undefined> {
  return (await cloud.loadBalancers.list(ask)).find(({ DNSName }) => DNSName?.toLowerCase() === hostname.toLowerCase());
}

async function balancerOf(context: Context, hostname: string): Promise<LoadBalancer & { readonly LoadBalancerArn: string }> {
  const found = await balancerAt(context, hostname);
  const arn = found?.LoadBalancerArn;
  expect(found !== undefined && arn !== undefined, `there is no load balancer ${hostname}`);
  return { ...found, LoadBalancerArn: arn };
}

/** Hosts that its rules name. */
async function hostsOf({ cloud, ask }: Context, arn: string): Promise<readonly string[]> {
  const listeners = await cloud.loadBalancers.listeners(arn, ask);
  const rules = await Promise.all(listeners.map(({ ListenerArn = "" }) => cloud.listeners.rules(ListenerArn, ask)));
  const hosts = rules.flat().flatMap(({ Conditions = [] }) => Conditions.flatMap(({ HostHeaderConfig }) => HostHeaderConfig?.Values ?? []));
  return [...new Set(hosts)].sort();
}

function balancerGone(context: Context, hostname: string): Promise<void> {
  return eventually(context, async () => {
    expect((await balancerAt(context, hostname)) === undefined, `load balancer ${hostname} is still there`);
  });
}

export const ingressCases: readonly Case[] = [
  {
    name: "ingress-host-and-path",
    checks: "an application load balancer whose requests go by host and path to two Services; with its Ingress it is gone",
    async run(context) {
      await ingressClass(context);
      for (const what of ["red", "blue"]) await startBackend(context, what);
      // Both paths are answered by agnhost with the name of its pod; load balancers tell them apart by case.
      const rules = {
        "a.e2e.example.com": [
          { path: "/hostname", type: "Exact", to: "blue" },
          { path: "/", type: "Prefix", to: "red" },
        ],
        "b.e2e.example.com": [{ path: "/", type: "Prefix", to: "red" }],
      } as const;
      const name = await createIngress(context, "web", { rules });
      const hostname = await addressOf(context, name);
      const { Type, Scheme, LoadBalancerArn: arn } = await balancerOf(context, hostname);
      expect(Type === "application" && Scheme === "internet-facing", `it is ${Type}, ${Scheme}`);
      const tags = await context.cloud.loadBalancers.tags(arn, context.ask);
      expect(tags?.[mark] === context.run, `it lacks the tag ${mark}`);
      const hosts = await hostsOf(context, arn);
      expect(hosts.join() === Object.keys(rules).join(), `its rules name the hosts ${hosts.join(", ") || "none"}`);
      const wanted: readonly (readonly [string, string, string | 404])[] = [
        ["a.e2e.example.com", "/hostname", "blue"],
        ["a.e2e.example.com", "/hostName", "red"],
        ["b.e2e.example.com", "/hostname", "red"],
        ["c.e2e.example.com", "/hostname", 404],
      ];
      if (context.pods) for (const [host, path, by] of wanted) await answeredBy(context, `http://${hostname}${path}`, host, by);
      else context.leftOut("real requests");
      await deleteIngress(context, name);
      await balancerGone(context, hostname);
    },
  },
  {
    name: "ingress-group",
    checks: "two Ingresses of a group share a load balancer; when one goes its rules go, and the other stays",
    async run(context) {
      await ingressClass(context);
      await startBackend(context, "shared");
      const annotations = { "group.name": nameOf(context, "group") };
      const ruled = (host: string) => ({ annotations, rules: { [host]: [{ path: "/", type: "Prefix", to: "shared" }] } as const });
      const first = await createIngress(context, "one", ruled("one.e2e.example.com"));
      const second = await createIngress(context, "two", ruled("two.e2e.example.com"));
      const [hostname, other] = [await addressOf(context, first), await addressOf(context, second)];
      expect(hostname === other, `they have the addresses ${hostname} and ${other}`);
      const hosts = (expected: string) =>
        eventually(context, async () => {
          const named = (await hostsOf(context, (await balancerOf(context, hostname)).LoadBalancerArn)).join();
          expect(named === expected, `its rules name the hosts ${named || "none"}, not ${expected}`);
        });
      await hosts("one.e2e.example.com,two.e2e.example.com");
      await deleteIngress(context, first);
      await hosts("two.e2e.example.com");
      await deleteIngress(context, second);
      await balancerGone(context, hostname);
    },
  },
];

/** agnhost answers with the name of its pod. */
function answeredBy(context: Context, url: string, host: string, by: string | 404): Promise<void> {
  return eventually(context, async () => {
    const { status, body } = await context.request(url, host);
    const answer = status === 200 ? body.trim() : status;
    const expected = by === 404 ? 404 : nameOf(context, by);
    expect(answer === expected, `${url} of ${host} is answered with ${answer}, not ${expected}`);
  });
}
