/** What the page shows of an AWS account: load balancers, target groups, instances, volumes, routes, addresses. */
import type { Address } from "@aws-sdk/client-ec2";
import type { LoadBalancerDescription } from "@aws-sdk/client-elastic-load-balancing";
import type {
  Action,
  Listener,
  LoadBalancer,
  Rule,
  RuleCondition,
  TargetGroup,
  TargetHealthDescription,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Instance } from "../aws/instance.ts";
import type { RouteTable } from "../aws/route-tables.ts";
import type { Volume } from "../aws/volumes.ts";
import type { Entry, State, Thing } from "./graph.ts";

/** Only what says something. */
function factsOf(facts: Readonly<Record<string, string | number | undefined>>): Thing["facts"] {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
}

/** A load balancer of the second generation. It leads to its listeners once they are known, until then to its target groups. */
export function balancerEntry(balancer: LoadBalancer, groups: readonly TargetGroup[]): Entry {
  const {
    LoadBalancerArn: arn = "",
    LoadBalancerName: name = "",
    DNSName: dns = "",
    State: state,
    Type,
    Scheme,
    AvailabilityZones,
  } = balancer;
  const code = state?.Code ?? "active";
  const states: Readonly<Record<string, State>> = { active: "good", provisioning: "working", active_impaired: "bad", failed: "bad" };
  return {
    thing: {
      id: arn,
      kind: "balancer",
      name,
      state: states[code] ?? "bad",
      text: code === "active" ? `${Type}, ${Scheme}` : (state?.Reason ?? code),
      facts: factsOf({
        address: dns,
        kind: Type,
        scheme: Scheme,
        zones: AvailabilityZones?.map(({ ZoneName }) => ZoneName).join(", "),
        ARN: arn,
      }),
    },
    also: [dns],
    to: groups.flatMap(({ TargetGroupArn = "", LoadBalancerArns = [] }) => (LoadBalancerArns.includes(arn) ? [TargetGroupArn] : [])),
    needsUse: true,
  };
}

/** A classic load balancer leads straight to instances. */
export function classicEntry({
  LoadBalancerName: name = "",
  DNSName: dns = "",
  Scheme,
  Instances = [],
  ListenerDescriptions = [],
}: LoadBalancerDescription): Entry {
  const ports = ListenerDescriptions.flatMap(({ Listener: listener }) => listener?.LoadBalancerPort ?? []);
  return {
    thing: {
      id: `classic/${name}`,
      kind: "balancer",
      name,
      state: "good",
      text: `classic, ${Scheme}`,
      facts: factsOf({ address: dns, kind: "classic", scheme: Scheme, ports: ports.join(", ") }),
    },
    also: [dns],
    to: Instances.flatMap(({ InstanceId }) => InstanceId ?? []),
    needsUse: true,
  };
}

export function listenerEntry(
  { ListenerArn: arn = "", Protocol, Port, Certificates, DefaultActions = [] }: Listener,
  rules: readonly Rule[],
): Entry {
  const shown = rules.filter(({ IsDefault }) => !IsDefault);
  return {
    thing: {
      id: arn,
      kind: "listener",
      name: `${Protocol} ${Port}`,
      state: "good",
      text:
        shown.length > 0
          ? `${shown.length} rule${shown.length === 1 ? "" : "s"}, else ${actionsText(DefaultActions)}`
          : actionsText(DefaultActions),
      facts: factsOf({ certificate: Certificates?.map(({ CertificateArn }) => CertificateArn).join(", "), ARN: arn }),
    },
    to: [...shown.flatMap(({ RuleArn }) => RuleArn ?? []), ...groupsIn(DefaultActions)],
  };
}

export function ruleEntry({ RuleArn: arn = "", Priority = "", Conditions = [], Actions = [] }: Rule): Entry {
  const when = Conditions.map(conditionText).join(" and ");
  return {
    thing: {
      id: arn,
      kind: "rule",
      name: when,
      state: "good",
      text: actionsText(Actions),
      facts: factsOf({ priority: Priority, ARN: arn }),
    },
    to: groupsIn(Actions),
  };
}

export function groupEntry(group: TargetGroup, health: readonly TargetHealthDescription[] | undefined): Entry {
  const { TargetGroupArn: arn = "", TargetGroupName: name = "", Protocol, Port, TargetType, HealthCheckPath } = group;
  const healthy = health?.filter(({ TargetHealth }) => TargetHealth?.State === "healthy").length ?? 0;
  const isBad = health !== undefined && health.length > 0 && healthy === 0;
  return {
    thing: {
      id: arn,
      kind: "target-group",
      name,
      state: isBad ? "bad" : "good",
      text: health === undefined ? `${Protocol} ${Port} to ${TargetType}` : `${healthy} of ${health.length} targets healthy`,
      facts: factsOf({ protocol: Protocol, port: Port, targets: TargetType, "health check": HealthCheckPath, ARN: arn }),
    },
    to: (health ?? []).map((each) => targetId(arn, each)),
    needsUse: true,
  };
}

export function targetEntry(group: string, each: TargetHealthDescription): Entry {
  const { Target: target, TargetHealth: health } = each;
  const states: Readonly<Record<string, State>> = { healthy: "good", initial: "working", draining: "working", unused: "idle" };
  const state = health?.State ?? "unknown";
  return {
    thing: {
      id: targetId(group, each),
      kind: "target",
      name: `${target?.Id}:${target?.Port}`,
      state: states[state] ?? "bad",
      text: health?.Description ?? state,
      facts: factsOf({ health: state, reason: health?.Reason, zone: target?.AvailabilityZone }),
    },
    to: [target?.Id ?? ""],
  };
}

const targetId = (group: string, { Target: target }: TargetHealthDescription) => `${group}#${target?.Id}:${target?.Port}`;

export function instanceEntry(instance: Instance, routes: readonly string[]): Entry {
  const { id, type, state = "pending", zone, privateIp, publicIp, lifecycle, disks } = instance;
  const states: Readonly<Record<string, State>> = { running: "good", pending: "working", stopping: "working", "shutting-down": "working" };
  return {
    thing: {
      id,
      kind: "instance",
      name: id,
      state: states[state] ?? "idle",
      text: [type, state, lifecycle].filter(Boolean).join(", "),
      facts: factsOf({
        zone,
        address: privateIp,
        "public address": publicIp,
        name: instance.tags.Name,
        "private name": instance.privateDnsName,
      }),
    },
    also: [privateIp ?? ""],
    to: [...disks.map(({ volumeId }) => volumeId), ...routes],
  };
}

export function volumeEntry({ id, state, sizeGiB, type, zone, tags, attachments }: Volume): Entry {
  const states: Readonly<Record<string, State>> = { "in-use": "good", available: "good", error: "bad" };
  return {
    thing: {
      id,
      kind: "volume",
      name: id,
      state: states[state] ?? "working",
      text: `${sizeGiB} GiB ${type}, ${state}`,
      facts: factsOf({
        zone,
        claim: tags["kubernetes.io/created-for/pvc/name"],
        attached: attachments.map(({ instanceId, device, state: how }) => `${instanceId} as ${device} (${how})`).join(", "),
        name: tags.Name,
      }),
    },
    to: [],
    needsUse: true,
  };
}

/** An elastic address is paid for whether it leads anywhere or not. */
export function addressEntry({
  AllocationId: id = "",
  PublicIp = "",
  AssociationId,
  InstanceId,
  NetworkInterfaceId,
  Tags = [],
}: Address): Entry {
  const name = Tags.find(({ Key }) => Key === "Name")?.Value;
  const isUsed = AssociationId !== undefined;
  return {
    thing: {
      id,
      kind: "address",
      name: PublicIp,
      state: isUsed ? "good" : "idle",
      text: isUsed ? `in use by ${InstanceId ?? NetworkInterfaceId}` : "nobody uses it",
      facts: factsOf({ name, allocation: id, "network interface": NetworkInterfaceId }),
    },
    to: InstanceId === undefined ? [] : [InstanceId],
  };
}

/** The pod routes of a table, each under the id by which its instance leads to it. */
export function routeEntries({ id: table, routes }: RouteTable): readonly { readonly instance: string; readonly entry: Entry }[] {
  return routes.flatMap(({ destination, instanceId, state }) => {
    if (destination === undefined || instanceId === undefined) return [];
    const thing = {
      id: `route/${table}/${destination}`,
      kind: "route",
      name: destination,
      state: state === "active" ? "good" : "bad",
    } as const;
    return [{ instance: instanceId, entry: { thing: { ...thing, text: `${state} in ${table}`, facts: factsOf({ table }) }, to: [] } }];
  });
}

/** `host is shop.example.com` */
function conditionText({
  Field = "",
  HostHeaderConfig,
  PathPatternConfig,
  HttpHeaderConfig,
  QueryStringConfig,
  HttpRequestMethodConfig,
  SourceIpConfig,
  Values,
}: RuleCondition): string {
  const values =
    HostHeaderConfig?.Values ??
    PathPatternConfig?.Values ??
    HttpHeaderConfig?.Values ??
    HttpRequestMethodConfig?.Values ??
    SourceIpConfig?.Values ??
    QueryStringConfig?.Values?.map(({ Key, Value }) => (Key ? `${Key}=${Value}` : `${Value}`)) ??
    Values ??
    [];
  const what: Readonly<Record<string, string>> = {
    "host-header": "host",
    "path-pattern": "path",
    "http-request-method": "method",
    "source-ip": "source",
    "query-string": "query",
  };
  return `${Field === "http-header" ? `header ${HttpHeaderConfig?.HttpHeaderName}` : (what[Field] ?? Field)} ${values.join(" or ")}`;
}

function actionsText(actions: readonly Action[]): string {
  const last = actions.toSorted((a, b) => (a.Order ?? 0) - (b.Order ?? 0)).at(-1);
  switch (last?.Type) {
    case "forward":
      return groupsIn([last]).length > 1 ? "forward, weighted" : "forward";
    case "redirect":
      return `redirect to ${last.RedirectConfig?.Protocol}, port ${last.RedirectConfig?.Port} (${last.RedirectConfig?.StatusCode})`;
    case "fixed-response":
      return `answer ${last.FixedResponseConfig?.StatusCode}`;
    default:
      return last?.Type ?? "nothing";
  }
}

function groupsIn(actions: readonly Action[]): readonly string[] {
  const named = actions.flatMap(({ TargetGroupArn, ForwardConfig }) => [
    TargetGroupArn,
    ...(ForwardConfig?.TargetGroups ?? []).map(({ TargetGroupArn: arn }) => arn),
  ]);
  // AWS names a single group in both places.
  return [...new Set(named)].filter((arn) => arn !== undefined);
}
