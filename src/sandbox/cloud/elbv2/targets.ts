/** Targets of a group: an instance or address with a port. */
import {
  DeregisterTargets$,
  type DeregisterTargetsInput,
  RegisterTargets$,
  type RegisterTargetsInput,
  type TargetDescription,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { blockOf, contains, parseAddress, parseBlock } from "../ec2/cidr.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, write } from "../service.ts";
import { allAttributes } from "./attribute-tables.ts";
import { targetsOf } from "./health-state.ts";
import {
  type Elbv2,
  groupsOf,
  keyMeant,
  listenersOf,
  loadBalancersOf,
  type Target,
  type TargetGroup,
  targetGroupAt,
  targetKey,
} from "./state.ts";
import { targetGroupAttributes } from "./target-group-attributes.ts";
import { watchTargets } from "./target-health.ts";
import { checkTargetCount } from "./usage.ts";

/**
 * Families that a network load balancer takes by address only.
 * https://docs.aws.amazon.com/elasticloadbalancing/latest/network/target-group-register-targets.html
 */
const BY_ADDRESS_ONLY = /^(c1|cc1|cc2|cg1|cg2|cr1|g1|g2|hi1|hs1|m1|m2|m3|t1)\./;
const NETWORK_PROTOCOLS = /^(TCP|TLS|UDP|TCP_UDP|QUIC|TCP_QUIC)$/;
const QUIC_SERVER_ID = /^0x[0-9a-f]{16}$/;
/** Addresses outside the VPC that may be targets: RFC 1918 and RFC 6598. */
const PRIVATE_BLOCKS = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"].map((text) => parseBlock(text)!);

/** The operations that register targets and let them go. */
export function targetOperations(elbv2: Elbv2): Operations {
  return [
    write<RegisterTargetsInput, object>(RegisterTargets$, (input) => {
      register(elbv2, targetGroupAt(elbv2, input.TargetGroupArn), input.Targets ?? []);
      return {};
    }),
    write<DeregisterTargetsInput, object>(DeregisterTargets$, (input) => {
      deregister(elbv2, targetGroupAt(elbv2, input.TargetGroupArn), input.Targets ?? []);
      return {};
    }),
  ];
}

function register(elbv2: Elbv2, group: TargetGroup, given: readonly TargetDescription[]): void {
  if (given.length === 0) throw new ServiceError("ValidationError", "At least one target must be specified");
  for (const description of given) {
    const target = checkedTarget(elbv2, group, description);
    const present = elbv2.targets.get(targetKey(target));
    if (present !== undefined && present.drainingSince === undefined) continue;
    elbv2.checks.forget(targetKey(target));
    elbv2.targets.put(targetKey(target), target);
  }
  const serving = targetsOf(elbv2, group.arn).filter((target) => target.drainingSince === undefined);
  const single = group.targetType === "lambda" || group.targetType === "alb";
  if (serving.length > (single ? 1 : elbv2.account.settings().quotas.targetsPerTargetGroup)) {
    throw new ServiceError("TooManyTargets", "The maximum number of targets per target group has been reached");
  }
  for (const owner of loadBalancersOf(elbv2, group.arn)) {
    if (elbv2.loadBalancers.get(owner)?.type === "application") checkTargetCount(elbv2, groupsOf(elbv2, owner));
  }
  if (loadBalancersOf(elbv2, group.arn).length > 0) watchTargets(elbv2, group.arn);
}

/** A target whose group is in use drains first; one that is not there does not matter. */
function deregister(elbv2: Elbv2, group: TargetGroup, given: readonly TargetDescription[]): void {
  if (given.length === 0) throw new ServiceError("ValidationError", "At least one target must be specified");
  const { time } = elbv2.account;
  const used = loadBalancersOf(elbv2, group.arn).length > 0;
  // A function has no connections to wait for.
  const delay = Number(allAttributes(targetGroupAttributes(group), group)["deregistration_delay.timeout_seconds"] ?? 0) * 1000;
  for (const description of given) {
    const key = keyMeant(group, description);
    const target = elbv2.targets.get(key);
    if (target === undefined || target.drainingSince !== undefined) continue;
    if (!used || delay === 0) {
      elbv2.targets.delete(key);
      continue;
    }
    const draining = elbv2.targets.update(key, { drainingSince: time.now() });
    time.after(delay, () => {
      // Registered again meanwhile, it is another record.
      if (elbv2.targets.get(key) === draining) elbv2.targets.delete(key);
    });
  }
}

function checkedTarget(elbv2: Elbv2, group: TargetGroup, description: TargetDescription): Target {
  const { Id: id = "", Port: port = group.port, AvailabilityZone: zone, QuicServerId: quicServerId } = description;
  const called = group.targetType === "lambda";
  if (called ? port !== 0 : port < 1 || port > 65_535) {
    throw new ServiceError("ValidationError", `Port '${port}' of target '${id}' is not valid`);
  }
  if (group.protocol?.includes("QUIC") && !QUIC_SERVER_ID.test(quicServerId ?? "")) {
    throw new ServiceError("ValidationError", `Target '${id}' needs a QUIC server ID of 8 bytes, such as 0x0123456789abcdef`);
  }
  const place = placeOf(elbv2, group, { id, port, zone });
  return {
    groupArn: group.arn,
    id,
    port,
    zone: place,
    quicServerId,
    verdict: { kind: "pending" },
    checked: false,
    drainingSince: undefined,
  };
}

interface Asked {
  readonly id: string;
  readonly port: number;
  readonly zone: string | undefined;
}

/** The zone that a target is in, where that is told. */
function placeOf(elbv2: Elbv2, group: TargetGroup, { id, port, zone }: Asked): string | undefined {
  switch (group.targetType) {
    case "instance":
      return checkInstance(elbv2, group, id, zone);
    case "ip":
      return zoneOfAddress(elbv2, group, id, zone);
    case "alb":
      return checkBalancer(elbv2, group, id, port);
    case "lambda":
      if (/^arn:[a-z-]+:lambda:[a-z0-9-]+:\d{12}:function:[\w-]+(:[\w$-]+)?$/.test(id)) return undefined;
      throw new ServiceError("ValidationError", `'${id}' is not a valid ARN of a function`);
  }
}

/** An application load balancer of the same VPC that is active and listens on the port. */
function checkBalancer(elbv2: Elbv2, group: TargetGroup, id: string, port: number): undefined {
  const balancer = elbv2.loadBalancers.get(id);
  if (balancer?.type !== "application") {
    throw new ServiceError("InvalidTarget", `The following targets are not valid application load balancers: '${id}'`);
  }
  if (balancer.vpcId !== group.vpcId) {
    throw new ServiceError("InvalidTarget", `The following targets are not in the target group VPC '${group.vpcId}': '${id}'`);
  }
  if (balancer.state !== "active") throw new ServiceError("InvalidTarget", `The following targets are not active: '${id}'`);
  if (!listenersOf(elbv2, id).some((listener) => listener.port === port)) {
    throw new ServiceError("InvalidTarget", `The following targets have no listener on port ${port}: '${id}'`);
  }
}

function checkInstance(elbv2: Elbv2, group: TargetGroup, id: string, zone: string | undefined): undefined {
  if (!/^i-([0-9a-f]{8}|[0-9a-f]{17})$/.test(id)) throw new ServiceError("ValidationError", `Instance ID '${id}' is not valid`);
  if (zone !== undefined) throw new ServiceError("ValidationError", "You cannot specify an Availability Zone for targets of type instance");
  const instance = elbv2.account.ec2.instances.get(id);
  if (instance === undefined) throw new ServiceError("InvalidTarget", `The following targets are not valid instances: '${id}'`);
  if (instance.state !== "running") {
    throw new ServiceError("InvalidTarget", `The following targets are not in a running state and cannot be registered: '${id}'`);
  }
  if (instance.vpcId !== group.vpcId) {
    throw new ServiceError("InvalidTarget", `The following targets are not in the target group VPC '${group.vpcId}': '${id}'`);
  }
  if (NETWORK_PROTOCOLS.test(group.protocol ?? "") && BY_ADDRESS_ONLY.test(instance.type)) {
    throw new ServiceError("InvalidTarget", `The following targets have unsupported instance types: '${id}'`);
  }
}

/** The zone of an address: found by its subnet, or `all` for one outside the VPC. */
function zoneOfAddress(elbv2: Elbv2, group: TargetGroup, id: string, zone: string | undefined): string {
  const { ec2 } = elbv2.account;
  const address = parseAddress(id);
  if (address === undefined || (address.family === 4) !== (group.ipAddressType === "ipv4")) {
    throw new ServiceError("ValidationError", `The IP address '${id}' is not a valid ${group.ipAddressType} address`);
  }
  const single = blockOf(address);
  const subnet = ec2.subnets.values().find((one) => {
    const cidr = address.family === 4 ? one.cidr : one.ipv6Cidr;
    return one.vpcId === group.vpcId && cidr !== undefined && contains(parseBlock(cidr)!, single);
  });
  if (subnet !== undefined) return zone ?? subnet.zone;
  if (!PRIVATE_BLOCKS.some((block) => contains(block, single))) {
    throw new ServiceError("ValidationError", `The IP address '${id}' must be within the VPC or a private range`);
  }
  if (zone === undefined) {
    throw new ServiceError("ValidationError", `The IP address '${id}' is outside the VPC: an Availability Zone or 'all' must be specified`);
  }
  return zone;
}
