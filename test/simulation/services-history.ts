/** One history of Services from one seed: people, nodes, faults and crashes for a while, and order afterwards. */
import { seededRandom } from "../../src/sandbox/seeded-random.ts";
import { classicOf, networkOf, nodeRules } from "../bed/balancers.ts";
import { certificate, type Manager, type ServiceWish, type ServiceWorld, serviceWorld } from "../bed/service-world.ts";
import { type Chance, chanceOf } from "./chance.ts";

/** Values people try, good and bad. */
const values: Readonly<Record<string, readonly (string | null)[]>> = {
  internal: ["true", "false", null],
  "ssl-cert": [certificate, null],
  "ssl-ports": ["80", "*", null],
  "ssl-negotiation-policy": ["ELBSecurityPolicy-TLS-1-2-2017-01", null],
  "backend-protocol": ["tcp", "ssl", "http", null, "bacon"],
  "proxy-protocol": ["*", null, "yes"],
  "access-log-enabled": ["false", null],
  "connection-draining-enabled": ["true", "false", null],
  "connection-idle-timeout": ["30", "300", null, "soon"],
  "cross-zone-load-balancing-enabled": ["true", "false", null],
  "additional-resource-tags": ["team=a", "team=b,stage=x", null],
  "target-node-labels": ["pool=a", null, null],
  "healthcheck-protocol": ["TCP", "HTTP", null],
  "healthcheck-port": ["traffic-port", "32100", null, "web"],
  "healthcheck-interval": ["10", "30", null],
  "healthcheck-healthy-threshold": ["3", "5", null],
  "target-group-attributes": ["proxy_protocol_v2.enabled=true", null],
  "type-change": ["replace", null],
};

const types = [null, "nlb", "nlb", null, "external"];
const names = ["a", "b", "c", "d", "e"];
const stormMs = 10 * 60_000;
const patienceMs = 60 * 60_000;

/** Plays it, and tells what is wrong in the end. */
export async function servicesHistory(seed: number): Promise<readonly string[]> {
  const chance = chanceOf(seededRandom(seed));
  const config = one(chance, ["", "NLBSecurityGroupMode=Managed", "ClusterServiceLoadBalancerHealthProbeMode=Shared"]);
  const world = await serviceWorld({ seed, config, nodes: 3 });
  const broken: string[] = [];
  try {
    const foreign = plantForeign(world);
    await world.create("steady", { annotations: { type: "nlb" }, spec: { ports: [{ port: 80, nodePort: 30080 }] } });
    let manager: Manager = world.start();
    await world.published("steady");
    const steady = nodeRules(world).filter((text) => text.includes(world.loadBalancerOf("steady")));
    const tuple = (text: string) => text.replace(/ ".*/, "");
    world.onMutation = (action) => {
      const now = new Set(nodeRules(world).map(tuple));
      for (const rule of steady) if (!now.has(tuple(rule))) broken.push(`after ${action} the steady Service lacks ${rule}`);
    };
    faults(world, chance);
    const until = world.world.clock.monotonic() + stormMs;
    while (world.world.clock.monotonic() < until) {
      await world.world.advance(chance.between(100, 40_000));
      await act(world, chance);
      if (chance.happens(0.15)) {
        manager.kill();
        await world.world.advance(chance.between(0, 15_000));
        manager = world.start();
      }
    }
    world.aws.controls.faults.remove();
    await world.world.advance(patienceMs);
    broken.push(...disorder(world), ...foreign());
    if (!(await everythingGoes(world))) broken.push("Services that were deleted are still there");
    broken.push(...disorder(world), ...foreign());
    return broken;
  } finally {
    world.close();
  }
}

/** One of some. */
function one<T>(chance: Chance, items: readonly T[]): T {
  return chance.pick(items)!;
}

/** Things of other people that look a little like ours; the result tells which of them were touched. */
function plantForeign(world: ServiceWorld): () => string[] {
  const { ec2 } = world.aws.account;
  const group = {
    ...ec2.securityGroups.get(world.network.nodeGroupId)!,
    id: "sg-0f0f0f0f0f0f0f0f0",
    name: "k8s-elb-other",
    tags: { owner: "them" },
  };
  ec2.securityGroups.put(group.id, group);
  const id = "sgr-0f0f0f0f0f0f0f0f0";
  const rule = {
    id,
    groupId: world.network.nodeGroupId,
    egress: false,
    protocol: "tcp",
    fromPort: 31999,
    toPort: 31999,
    peer: { kind: "ipv4", cidr: "0.0.0.0/0" },
    description: "kubernetes.io/rule/nlb/client=aother",
    tags: {},
  } as const;
  ec2.rules.put(id, rule);
  return () => [
    ...(ec2.securityGroups.get(group.id)?.name === group.name ? [] : ["a foreign security group is gone"]),
    ...(ec2.rules.get(id)?.description === rule.description ? [] : ["a foreign rule was touched"]),
  ];
}

function faults(world: ServiceWorld, chance: Chance): void {
  const effects = [
    { kind: "throttle" },
    { kind: "fail", code: "InternalFailure", status: 500 },
    { kind: "cut" },
    { kind: "lose-answer" },
    { kind: "delay", ms: 3000 },
  ] as const;
  for (const effect of effects) world.aws.controls.faults.add({ action: "*", effect, probability: chance.between(0, 60) / 1000 });
}

async function act(world: ServiceWorld, chance: Chance): Promise<void> {
  const name = one(chance, names);
  const there = world.service(name);
  const deleting = there?.metadata?.deletionTimestamp !== undefined;
  if (chance.happens(0.2)) return nodesChange(world, chance);
  if (there === undefined) return world.create(name, wish(chance));
  if (deleting) return;
  if (chance.happens(0.2)) return world.delete(name);
  const type =
    there.spec?.type === "LoadBalancer" ? one(chance, ["LoadBalancer", "LoadBalancer", "LoadBalancer", "ClusterIP"]) : "LoadBalancer";
  const spec = type === "ClusterIP" ? { type, externalTrafficPolicy: null } : { type, ...(chance.happens(0.3) && ports(chance)) };
  const edits = Object.fromEntries(pick(chance, 3).map((key) => [key, one(chance, values[key] ?? [null])]));
  await world.edit(name, { ...edits, ...(chance.happens(0.2) && { type: one(chance, types) }) }, spec);
}

function wish(chance: Chance): ServiceWish {
  const given = pick(chance, 3).flatMap((key) => {
    const value = one(chance, values[key] ?? [null]);
    return value === null ? [] : [[key, value]];
  });
  const type = one(chance, types);
  return { annotations: { ...Object.fromEntries(given), ...(type && { type }) }, spec: ports(chance) };
}

function ports(chance: Chance): { ports: { name: string; port: number }[]; loadBalancerSourceRanges?: string[] } {
  const count = Math.round(chance.between(1, 3));
  const list = Array.from({ length: count }, (_, i) => ({ name: `p${i}`, port: 80 + i }));
  return {
    ports: list,
    ...(chance.happens(0.3) && { loadBalancerSourceRanges: one(chance, [["10.0.0.0/8"], ["192.168.0.0/16", "10.0.0.0/8"]]) }),
  };
}

function pick(chance: Chance, most: number): string[] {
  return Array.from({ length: Math.round(chance.between(0, most)) }, () => one(chance, Object.keys(values)));
}

async function nodesChange(world: ServiceWorld, chance: Chance): Promise<void> {
  const there = [...world.instances.keys()];
  if (there.length > 1 && chance.happens(0.5)) await world.leave(one(chance, there));
  else await world.join(1, { pool: one(chance, ["a", "b"]) });
}

async function everythingGoes(world: ServiceWorld): Promise<boolean> {
  const all = ["steady", ...names].filter((name) => world.service(name) !== undefined);
  world.onMutation = () => {};
  for (const name of all) if (world.service(name)?.metadata?.deletionTimestamp === undefined) await world.delete(name);
  await world.world.advance(patienceMs);
  return all.every((name) => world.service(name) === undefined);
}

/** What is missing, and what should not be there. */
function disorder(world: ServiceWorld): string[] {
  const found: string[] = [];
  const wanted = ["steady", ...names].filter((name) => world.service(name)?.spec?.type === "LoadBalancer");
  const ours = new Map<string, string>();
  for (const name of wanted) {
    const conditions = world.service(name)?.status?.conditions ?? [];
    const type = world.service(name)?.metadata?.annotations?.["service.beta.kubernetes.io/aws-load-balancer-type"];
    ours.set(world.loadBalancerOf(name), name);
    if (type === "external" || conditions.some(({ status }) => status === "False")) continue;
    const stands = type === "nlb" ? networkOf(world, name) : classicOf(world, name);
    if (stands === undefined) found.push(`${name} has no load balancer`);
    else found.push(...partsOf(world, name));
    if (world.hostname(name) === undefined) found.push(`${name} has no address`);
  }
  const snapshot = world.snapshot();
  const all = (table: string) =>
    Object.values(snapshot[table] ?? {}) as { readonly name: string; readonly tags: Readonly<Record<string, string>> }[];
  for (const { name } of [...all("elb/load-balancers"), ...all("elbv2/load-balancers")])
    if (!ours.has(name)) found.push(`load balancer ${name} is left`);
  for (const { name, tags } of all("elbv2/target-groups")) {
    const service = tags["kubernetes.io/service-name"]?.split("/")[1] ?? "";
    if (!wanted.includes(service)) found.push(`target group ${name} is left`);
  }
  for (const { name } of all("ec2/security-groups")) {
    const lb = /^k8s-elb-(a[0-9a-f]{31})$/.exec(name)?.[1];
    if (lb !== undefined && !ours.has(lb)) found.push(`security group ${name} is left`);
  }
  for (const rule of nodeRules(world)) {
    const lb = /nlb\/(?:client|health)=(\w+)"/.exec(rule)?.[1] ?? /from k8s-elb-(\w+)/.exec(rule)?.[1];
    if (lb !== undefined && lb !== "aother" && !ours.has(lb)) found.push(`rule ${rule} is left`);
  }
  return found;
}

/** What a load balancer that stands lacks: targets, and the rules its traffic needs. */
function partsOf(world: ServiceWorld, name: string): string[] {
  const network = networkOf(world, name);
  const pool = world.service(name)?.metadata?.annotations?.["service.beta.kubernetes.io/aws-load-balancer-target-node-labels"];
  const rules = nodeRules(world);
  if (network === undefined) return [];
  return network.groups.flatMap(({ port, targets }) => [
    ...(pool === undefined && targets.length !== world.instances.size
      ? [`${name}:${port} has ${targets.length} of ${world.instances.size} targets`]
      : []),
    ...(targets.length === 0 || rules.some((rule) => rule.includes(` ${port} from `)) ? [] : [`${name}:${port} is not let in`]),
  ]);
}
