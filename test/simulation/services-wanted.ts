/**
 * What must stand for a Service, worked out from the Service alone and by other means than the product's: it is the
 * second opinion that the account is compared with.
 */
import type { Service } from "../../src/kube/types.ts";
import type { ClassicLoadBalancer } from "../../src/sandbox/cloud/elb/state.ts";
import type { LoadBalancer } from "../../src/sandbox/cloud/elbv2/state.ts";
import type { Network } from "../../src/sandbox/cloud/network.ts";
import type { Account } from "./services-account.ts";
import { isTheirAddress } from "./services-other-controller.ts";
import { targetsRefusal, wrongTargetGroups } from "./services-wanted-targets.ts";

const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

export type Mode = "" | "managed groups" | "shared probe";

export interface Surroundings {
  readonly account: Account;
  readonly network: Network;
  readonly mode: Mode;
  /** IPv4 block of a subnet. */
  cidrOf(subnetId: string): string;
  /** How many rules a security group may have. */
  readonly rulesPerGroup: number;
  /** Whether an Event of the Service says this. */
  isTold(uid: string, text: string): boolean;
  /** Instances that must be behind a load balancer which asks for these labels, and those that may. Classic ones take any type. */
  targets(labels: string | undefined, takesOldTypes?: boolean): { readonly must: readonly string[]; readonly may: readonly string[] };
}

export interface Verdict {
  /** `refused` by us, with a condition; `unsure` where AWS may refuse it for reasons of its own. */
  readonly kind: "nobody's" | "refused" | "unsure" | "wanted";
  readonly wrong: readonly string[];
  /** What the nodes must let in. */
  readonly rules: readonly string[];
  /** What the Service wants them to let in, also where there are no nodes, or no room for it. */
  readonly asked: readonly string[];
}

/** What is wrong with what stands for a Service, were it final. */
export function judge(service: Service, around: Surroundings): Verdict {
  const name = service.metadata?.name ?? "";
  const standing = around.account.of(name);
  const { classics, networks } = standing;
  const wish = wishOf(service, classics.length === 0 && networks.length > 0 ? "network" : "classic");
  const hostname = service.status?.loadBalancer?.ingress?.[0]?.hostname;
  if (wish.kind === undefined) {
    const left = [...standing.classics, ...standing.networks].map((lb) => `${name} wants no load balancer and has ${lb.name}`);
    // Nobody reads the address of a Service in deletion.
    const published =
      hostname === undefined || isTheirAddress(hostname) || service.metadata?.deletionTimestamp !== undefined
        ? []
        : [`${name} has the address ${hostname}`];
    return { kind: "nobody's", wrong: [...left, ...published], ...none };
  }
  if (wish.get("type") === "none") return judgeTargets(service, wish, around);
  const [own, other] = wish.kind === "classic" ? [standing.classics, standing.networks] : ([standing.networks, standing.classics] as const);
  const refused = refusal(service, wish, around, own.length > 0, other.length > 0);
  const condition = service.status?.conditions?.find(({ type }) => type === "LoadBalancerConfigured");
  if (refused !== undefined) {
    const untold = condition?.status === "False" ? [] : [`${name} is not told that ${refused}`];
    return { kind: "refused", wrong: [...untold, ...[...own, ...other].flatMap((lb) => wrongTargets(lb, wish, around))], ...none };
  }
  const told = condition?.status === "False" ? [`${name} is told without reason: ${condition.message}`] : [];
  const [lb] = own;
  if (awsMayRefuse(wish, lb !== undefined, around)) return { kind: "unsure", wrong: told, ...none };
  if (lb === undefined) return { kind: "wanted", wrong: [...told, `${name} has no ${wish.kind} load balancer`], ...none };
  const rules = "listeners" in lb ? classicNodeRules(lb, wish, around.account) : networkNodeRules(lb, wish, around);
  const present = around.account.letsIn(around.network.nodeGroupId);
  const used = around.targets(wish.get("target-node-labels")).must.length > 0;
  const lacking = used ? rules.filter((rule) => !present.has(rule)) : [];
  const crowded = present.size + lacking.length > around.rulesPerGroup;
  return {
    kind: "wanted",
    rules: used && !crowded ? rules : [],
    asked: rules,
    wrong: [
      ...told,
      ...other.map(({ name: old }) => `${name} still has ${old} of the other kind`),
      ...(service.status?.conditions?.some(({ type }) => type === "LoadBalancerReplaced") ? [`what ${name} had is still going`] : []),
      ...own.slice(1).map(({ name: second }) => `${name} has a second load balancer ${second}`),
      ...(hostname === lb.dnsName.toLowerCase() ? [] : [`${name} is published as ${hostname}, should be ${lb.dnsName}`]),
      ...("listeners" in lb ? wrongClassic(lb, wish, around) : wrongNetwork(lb, wish, around)),
      ...wrongTargets(lb, wish, around),
      ...(crowded ? untold(service, around) : lacking.map((rule) => `${name} lacks the node rule ${rule}`)),
    ],
  };
}

function judgeTargets(service: Service, wish: Wish, around: Surroundings): Verdict {
  const { classics, networks } = around.account.of(wish.name);
  const refused = targetsRefusal(service, classics.length + networks.length > 0);
  const condition = service.status?.conditions?.find(({ type }) => type === "LoadBalancerConfigured");
  if (refused !== undefined) {
    const untold = condition?.status === "False" ? [] : [`${wish.name} is not told that ${refused}`];
    return { kind: "refused", wrong: [...untold, ...[...classics, ...networks].flatMap((lb) => wrongTargets(lb, wish, around))], ...none };
  }
  const told = condition?.status === "False" ? [`${wish.name} is told without reason: ${condition.message}`] : [];
  return { kind: "unsure", wrong: [...told, ...wrongTargetGroups(service, around)], ...none };
}

const none = { rules: [], asked: [] };

/** Who meets the quota of rules is told so. */
function untold({ metadata: { name = "", uid = "" } = {} }: Service, { isTold }: Surroundings): string[] {
  return isTold(uid, "more IPv4 rules in node security group") ? [] : [`${name} is not told that there is no room for its node rules`];
}

interface Port {
  readonly name: string;
  readonly port: number;
  readonly nodePort: number;
  readonly udp: boolean;
  /** Whether the certificate covers it. */
  readonly secure: boolean;
}

interface Wish {
  readonly name: string;
  readonly kind: "classic" | "network" | undefined;
  /** Nobody knows the type that it asks for. */
  readonly unknown: boolean;
  readonly ports: readonly Port[];
  readonly ranges: readonly string[];
  readonly local: boolean;
  readonly healthPort: number;
  readonly backend: string;
  get(annotation: string): string | undefined;
  number(annotation: string, otherwise: number): number;
  flag(annotation: string): boolean;
}

/** Under a type that nobody knows what stands is served. */
function wishOf({ metadata, spec }: Service, standing: "classic" | "network"): Wish {
  const annotations = metadata?.annotations ?? {};
  const get = (annotation: string) => annotations[prefix + annotation];
  const type = get("type");
  const wanted =
    spec?.type === "LoadBalancer" &&
    spec.loadBalancerClass === undefined &&
    metadata?.deletionTimestamp === undefined &&
    type !== "external" &&
    type !== "nlb-ip";
  const known = type === undefined ? "classic" : type === "nlb" ? "network" : undefined;
  const kind = wanted ? (known ?? standing) : undefined;
  const sslPorts = get("ssl-ports") ?? "*";
  const ranges = spec?.loadBalancerSourceRanges ?? annotations["service.beta.kubernetes.io/load-balancer-source-ranges"]?.split(",") ?? [];
  return {
    name: metadata?.name ?? "",
    kind,
    unknown: known === undefined,
    ports: (spec?.ports ?? []).map(({ name = "", port, nodePort = 0, protocol }) => {
      const covered = sslPorts === "*" || sslPorts.split(",").some((each) => each === String(port) || each === name);
      const udp = protocol === "UDP";
      return { name, port, nodePort, udp, secure: get("ssl-cert") !== undefined && covered && !(kind === "network" && udp) };
    }),
    ranges: ranges.length === 0 ? ["0.0.0.0/0"] : ranges,
    local: spec?.externalTrafficPolicy === "Local",
    healthPort: spec?.healthCheckNodePort ?? 0,
    backend: get("backend-protocol") ?? "",
    get,
    number: (annotation, otherwise) => Number(get(annotation) ?? otherwise),
    flag: (annotation) => get(annotation) === "true",
  };
}

/** Why we must refuse what the Service asks for. */
function refusal(service: Service, wish: Wish, { account, network }: Surroundings, stands: boolean, other: boolean): string | undefined {
  const { kind, ports, get } = wish;
  const classic = kind === "classic";
  if (wish.unknown && (!stands || other)) return "there is no such type";
  if (classic && ports.some(({ udp }) => udp)) return "a classic load balancer has no UDP";
  if (classic && ports.some(({ secure }) => secure) && !["", "tcp", "ssl", "http", "https"].includes(wish.backend))
    return "there is no such backend protocol";
  if (classic && ![undefined, "*"].includes(get("proxy-protocol"))) return "there is no such proxy protocol";
  if (classic && /\D/.test(get("connection-idle-timeout") ?? "")) return "the idle timeout is no number";
  if (classic && get("target-group-attributes") !== undefined) return "a classic load balancer has no target groups";
  if (!classic && get("extra-security-groups") !== undefined) return "a network load balancer takes no extra groups";
  if (!classic && get("target-group-attributes") === "preserve_client_ip.enabled=false" && ports.some(({ udp }) => udp))
    return "client addresses are always kept for UDP";
  if (!/^(traffic-port|\d+)$/.test(get("healthcheck-port") ?? "1")) return "the health check port is no port";
  if (![undefined, "replace"].includes(get("type-change"))) return "there is no such type change";
  const name = get("name");
  if (name?.startsWith("-")) return "no load balancer can have this name";
  const published = service.status?.loadBalancer?.ingress?.[0]?.hostname !== undefined;
  if (other && published && get("type-change") !== "replace") return "the type may not change";
  const namesakes = [...account.classics(), ...account.networks()].filter((lb) => lb.name === name);
  const own = account.of(wish.name);
  if (!stands && namesakes.some((lb) => ![...own.classics, ...own.networks].some((each) => each === lb))) return "the name is taken";
  const subnets = get("subnets")?.split(",") ?? network.publicSubnetIds;
  if (subnets.some((id) => id.startsWith("subnet-none"))) return "there is no such subnet";
  const counts = ["eip-allocations", "private-ipv4-addresses"].flatMap((each) => get(each)?.split(",").length ?? []);
  if (!classic && !stands && counts.some((count) => count !== subnets.length)) return "there is not one address a subnet";
  return undefined;
}

/** Logs need a bucket; addresses may be taken, or not fit the subnets, when the load balancer is made; a group has a quota. */
function awsMayRefuse(wish: Wish, stands: boolean, { mode, rulesPerGroup }: Surroundings): boolean {
  const { kind, get, flag } = wish;
  if ((kind === "classic" || mode === "managed groups") && clientRules(wish).length > rulesPerGroup) return true;
  if (flag("access-log-enabled") && get("access-log-s3-bucket-name") === undefined) return true;
  return kind === "network" && !stands && (get("eip-allocations") ?? get("private-ipv4-addresses")) !== undefined;
}

function wrongTargets(lb: ClassicLoadBalancer | LoadBalancer, wish: Wish, { account, targets }: Surroundings): string[] {
  const { must, may } = targets(wish.get("target-node-labels"), "listeners" in lb);
  const check = (where: string, is: readonly string[], as: (id: string) => string) => [
    ...must.filter((id) => !is.includes(as(id))).map((id) => `${where} lacks ${as(id)}`),
    ...is.filter((each) => ![...must, ...may].some((id) => as(id) === each)).map((each) => `${where} should not have ${each}`),
  ];
  if ("listeners" in lb) {
    const registered = lb.instances.map(({ id }) => id);
    return check(`load balancer ${lb.name}`, registered, (id) => id);
  }
  const groups = groupsBehind(lb, account);
  return groups.flatMap(({ name, arn, port }) => check(`target group ${name}`, account.targets(arn), (id) => `${id}:${port}`));
}

function groupsBehind(lb: LoadBalancer, account: Account) {
  const arns = account.listeners(lb.arn).flatMap(({ actions }) => actions.flatMap(({ TargetGroupArn }) => TargetGroupArn ?? []));
  return account.targetGroups().filter(({ arn }) => arns.includes(arn));
}

/** Collects what is not as it should be. */
function expectations(who: string): { readonly wrong: string[]; readonly expect: (what: string, is: unknown, should: unknown) => void } {
  const wrong: string[] = [];
  const sorted = (value: unknown) => JSON.stringify(Array.isArray(value) ? value.toSorted() : value);
  const expect = (what: string, is: unknown, should: unknown) => {
    if (sorted(is) !== sorted(should)) wrong.push(`${who} has ${what} ${sorted(is)}, should be ${sorted(should)}`);
  };
  return { wrong, expect };
}

function wrongClassic(lb: ClassicLoadBalancer, wish: Wish, around: Surroundings): string[] {
  const { wrong, expect } = expectations(wish.name);
  const { get, flag, number, ports } = wish;
  const speaks = { "": ["SSL", "TCP"], tcp: ["SSL", "TCP"], ssl: ["SSL", "SSL"], http: ["HTTPS", "HTTP"], https: ["HTTPS", "HTTPS"] };
  const plain = wish.backend === "http" ? ["HTTP", "HTTP"] : ["TCP", "TCP"];
  expect(
    "listeners",
    lb.listeners.map((each) => `${each.protocol}:${each.port} ${each.instanceProtocol}:${each.instancePort} ${each.certificate ?? ""}`),
    ports.map(({ port, nodePort, secure }) => {
      const [front, back] = secure ? speaks[wish.backend as keyof typeof speaks] : plain;
      return `${front}:${port} ${back}:${nodePort} ${secure ? get("ssl-cert") : ""}`;
    }),
  );
  const proxied = Object.entries(lb.backendPolicies).flatMap(([port, policies]) => (policies.length > 0 ? [Number(port)] : []));
  expect("the PROXY protocol on", proxied, get("proxy-protocol") === "*" ? [...new Set(ports.map(({ nodePort }) => nodePort))] : []);
  const policy = get("ssl-negotiation-policy");
  for (const listener of policy === undefined ? [] : lb.listeners.filter(({ certificate }) => certificate !== undefined))
    expect(`policies on ${listener.port}`, listener.policyNames, [`k8s-SSLNegotiationPolicy-${policy}`]);
  expect("cross-zone", lb.attributes.crossZone, flag("cross-zone-load-balancing-enabled"));
  expect("idle timeout", lb.attributes.idleTimeout, number("connection-idle-timeout", 60));
  expect("draining", lb.attributes.draining.enabled, flag("connection-draining-enabled"));
  if (get("connection-draining-timeout"))
    expect("draining timeout", lb.attributes.draining.timeout, number("connection-draining-timeout", 0));
  expect("access log", lb.attributes.accessLog.enabled, flag("access-log-enabled"));
  expect("health check", lb.healthCheck, {
    Target: classicCheck(wish, around),
    Interval: number("healthcheck-interval", 10),
    Timeout: number("healthcheck-timeout", 5),
    UnhealthyThreshold: number("healthcheck-unhealthy-threshold", 6),
    HealthyThreshold: number("healthcheck-healthy-threshold", 2),
  });
  const subnets = get("subnets")?.split(",") ?? around.network[lb.scheme === "internal" ? "privateSubnetIds" : "publicSubnetIds"];
  if ((lb.scheme === "internal") === flag("internal")) expect("subnets", lb.subnetIds, subnets);
  const given = get("security-groups")?.split(",") ?? [];
  const own = lb.groupIds.filter((id) => around.account.group(id)?.name === `k8s-elb-${lb.name}`);
  if (given.length === 0) expect("groups of its own", own.length, 1);
  expect("security groups", lb.groupIds, [
    ...new Set([...(given.length > 0 ? given : own), ...(get("extra-security-groups")?.split(",") ?? [])]),
  ]);
  if (given.length === 0 && own[0] !== undefined) expect("clients", [...around.account.letsIn(own[0])], clientRules(wish));
  const tags = Object.entries(lb.tags).map((pair) => pair.join("="));
  for (const tag of get("additional-resource-tags")?.split(",") ?? []) expect(`tag ${tag}`, tags.includes(tag), true);
  return wrong;
}

function classicCheck(wish: Wish, { mode }: Surroundings): string {
  const { get, ports } = wish;
  const traffic = ports[0]?.nodePort;
  const asked = get("healthcheck-port");
  const secure = wish.backend === "ssl" || wish.backend === "https";
  const base =
    wish.local && wish.healthPort !== 0
      ? { protocol: "HTTP", port: asked === "traffic-port" ? traffic : wish.healthPort, path: "/healthz" }
      : mode === "shared probe"
        ? { protocol: "HTTP", port: 10256, path: "/healthz" }
        : { protocol: secure ? "SSL" : "TCP", port: traffic, path: "/" };
  const protocol = get("healthcheck-protocol") ?? base.protocol;
  const port = asked === undefined || asked === "traffic-port" ? base.port : asked;
  return `${protocol}:${port}${protocol.startsWith("HTTP") ? (get("healthcheck-path") ?? base.path) : ""}`;
}

function clientRules({ ports, ranges }: Wish): string[] {
  return ranges.flatMap((cidr) => [...ports.map(({ port, udp }) => `${udp ? "udp" : "tcp"} ${port}-${port} ${cidr}`), `icmp 3-4 ${cidr}`]);
}

/** Everything from the group that the load balancer's traffic comes from: its own, or the first of those lent to it. */
function classicNodeRules(lb: ClassicLoadBalancer, { get }: Wish, account: Account): string[] {
  const own = lb.groupIds.find((id) => account.group(id)?.name === `k8s-elb-${lb.name}`);
  const source = get("security-groups")?.split(",")[0] ?? own;
  return source === undefined ? [] : [`-1 ${source}`];
}

function wrongNetwork(lb: LoadBalancer, wish: Wish, around: Surroundings): string[] {
  const { wrong, expect } = expectations(wish.name);
  const { account, mode } = around;
  const { get, flag, ports } = wish;
  const listeners = account.listeners(lb.arn);
  const groups = new Map(account.targetGroups().map((group) => [group.arn, group]));
  expect(
    "listeners",
    listeners.map(({ port, protocol, certificate, actions }) => {
      const group = groups.get(actions[0]?.TargetGroupArn ?? "");
      return `${protocol}:${port} ${certificate ?? ""} to ${group?.protocol}:${group?.port}`;
    }),
    ports.map(({ port, nodePort, udp, secure }) => {
      const plain = udp ? "UDP" : "TCP";
      const back = secure && wish.backend === "ssl" ? "TLS" : plain;
      return `${secure ? "TLS" : plain}:${port} ${secure ? get("ssl-cert") : ""} to ${back}:${nodePort}`;
    }),
  );
  const policy = get("ssl-negotiation-policy");
  for (const { port, protocol, sslPolicy } of policy === undefined ? [] : listeners)
    if (protocol === "TLS") expect(`policy on ${port}`, sslPolicy, policy);
  const tagged = account.targetGroups().filter(({ tags }) => tags["kubernetes.io/service-name"] === `default/${wish.name}` && isOurs(tags));
  expect("target groups", tagged.length, ports.length);
  const check = networkCheck(wish, around);
  const attributes = get("target-group-attributes")?.split("=");
  for (const group of groupsBehind(lb, account)) {
    const { protocol, port, path, interval, healthyThreshold, unhealthyThreshold } = group.check;
    expect(`the check of ${group.name}`, { protocol, port, path, interval, healthyThreshold, unhealthyThreshold }, check);
    if (attributes !== undefined) expect(attributes[0]!, group.attributes[attributes[0]!] ?? usual[attributes[0]!], attributes[1]);
  }
  const attribute = (key: string) => lb.attributes[key] ?? "false";
  expect("cross-zone", attribute("load_balancing.cross_zone.enabled"), String(flag("cross-zone-load-balancing-enabled")));
  expect("access log", attribute("access_logs.s3.enabled"), String(flag("access-log-enabled")));
  // One made without groups can never get any.
  if (mode === "managed groups" && lb.groupIds.length > 0) {
    const given = get("security-groups")?.split(",");
    const own = lb.groupIds.filter((id) => account.group(id)?.name.startsWith(`k8s-default-${wish.name}-`));
    if (given === undefined) expect("groups of its own", own.length, 1);
    expect("security groups", lb.groupIds, given ?? own);
    if (given === undefined && own[0] !== undefined) expect("clients", [...account.letsIn(own[0])], clientRules(wish));
  }
  return wrong;
}

/** What AWS gives a target group by itself. */
const usual: Readonly<Record<string, string>> = { "preserve_client_ip.enabled": "true", "proxy_protocol_v2.enabled": "false" };

const isOurs = (tags: Readonly<Record<string, string>>) => tags["kubernetes.io/cluster/simulated"] === "owned";

function networkCheck(wish: Wish, { mode }: Surroundings) {
  const { get, number } = wish;
  const base = wish.local
    ? { protocol: "HTTP", port: String(wish.healthPort), path: "/healthz", interval: 10, threshold: 2 }
    : { protocol: "TCP", port: "traffic-port", path: "/", interval: 30, threshold: 3 };
  const protocol = get("healthcheck-protocol") ?? base.protocol;
  const where =
    mode === "shared probe" && !wish.local
      ? { protocol: "HTTP", port: "10256", path: "/healthz" }
      : {
          protocol,
          port: get("healthcheck-port") ?? base.port,
          path: protocol === "TCP" ? undefined : (get("healthcheck-path") ?? base.path),
        };
  return {
    ...where,
    interval: number("healthcheck-interval", base.interval),
    healthyThreshold: number("healthcheck-healthy-threshold", base.threshold),
    unhealthyThreshold: number("healthcheck-unhealthy-threshold", base.threshold),
  };
}

/** Clients come to the nodes with their own addresses; health checks come from the subnets of the load balancer. */
function networkNodeRules(lb: LoadBalancer, wish: Wish, around: Surroundings): string[] {
  const clients = wish.ranges.flatMap((cidr) => [
    ...wish.ports.map(({ nodePort, udp }) => `${udp ? "udp" : "tcp"} ${nodePort}-${nodePort} ${cidr}`),
    `icmp 3-4 ${cidr}`,
  ]);
  const { port } = networkCheck(wish, around);
  const checked = port === "traffic-port" ? wish.ports.map(({ nodePort }) => nodePort) : [Number(port)];
  // All of them or none, as the reference has it: the quota of a group is met by rules that other rules make needless, too.
  const served = new Set(wish.ports.map(({ nodePort }) => nodePort));
  const open = wish.ranges.join() === "0.0.0.0/0" && wish.ports.every(({ udp }) => !udp);
  const covered = open && served.symmetricDifference(new Set(checked)).size === 0;
  const blocks = lb.zones.map(({ subnetId }) => around.cidrOf(subnetId));
  const checks = covered ? [] : checked.flatMap((each) => blocks.map((cidr) => `tcp ${each}-${each} ${cidr}`));
  return [...new Set([...clients, ...checks])];
}
