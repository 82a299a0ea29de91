/** Target groups: made, described, changed, deleted. */

import { isDeepStrictEqual } from "node:util";
import {
  CreateTargetGroup$,
  type CreateTargetGroupInput,
  type CreateTargetGroupOutput,
  DeleteTargetGroup$,
  type DeleteTargetGroupInput,
  DescribeTargetGroups$,
  type DescribeTargetGroupsInput,
  type DescribeTargetGroupsOutput,
  ModifyTargetGroup$,
  type ModifyTargetGroupInput,
  type ModifyTargetGroupOutput,
  type TargetGroup as TargetGroupAnswer,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { arn } from "../account.ts";
import { invalidConfiguration } from "../balancing/network.ts";
import { markerPage } from "../balancing/pages.ts";
import { needsAddTags, withTags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { changedCheck, newCheck } from "./health-check.ts";
import {
  checkArn,
  type Elbv2,
  groupsOf,
  loadBalancerAt,
  loadBalancersOf,
  type ProtocolVersion,
  type TargetGroup,
  targetGroupAt,
  targetKey,
} from "./state.ts";
import { TYPES, unmodelled } from "./types.ts";

/** The operations on target groups themselves. */
export function targetGroupOperations(elbv2: Elbv2): Operations {
  return [
    write<CreateTargetGroupInput, CreateTargetGroupOutput>(
      CreateTargetGroup$,
      (input) => ({ TargetGroups: [describe(elbv2, createTargetGroup(elbv2, input))] }),
      needsAddTags,
    ),
    write<ModifyTargetGroupInput, ModifyTargetGroupOutput>(ModifyTargetGroup$, (input) => {
      const group = targetGroupAt(elbv2, input.TargetGroupArn);
      return { TargetGroups: [describe(elbv2, elbv2.targetGroups.update(group.arn, { check: changedCheck(group, group.check, input) }))] };
    }),
    write<DeleteTargetGroupInput, object>(DeleteTargetGroup$, (input) => {
      deleteTargetGroup(elbv2, checkArn(input.TargetGroupArn, "targetgroup"));
      return {};
    }),
    read<DescribeTargetGroupsInput, DescribeTargetGroupsOutput>(DescribeTargetGroups$, (input) => {
      const { items, NextMarker } = markerPage(elbv2.account, asked(elbv2, input), (group) => group.arn, input);
      return { TargetGroups: items.map((group) => describe(elbv2, group)), NextMarker };
    }),
  ];
}

function asked(elbv2: Elbv2, input: DescribeTargetGroupsInput): readonly TargetGroup[] {
  const { LoadBalancerArn: owner, TargetGroupArns: arns = [], Names: names = [] } = input;
  if ([owner !== undefined, arns.length > 0, names.length > 0].filter(Boolean).length > 1) {
    throw new ServiceError("ValidationError", "Target group names, target group ARNs and a load balancer ARN cannot be specified together");
  }
  if (arns.length > 0) return [...new Set(arns)].map((one) => targetGroupAt(elbv2, one));
  const all = elbv2.targetGroups.values();
  if (owner !== undefined) {
    const used = new Set(groupsOf(elbv2, loadBalancerAt(elbv2, owner).arn));
    return all.filter((group) => used.has(group.arn));
  }
  if (names.length === 0) return all;
  return [...new Set(names)].map((name) => {
    const found = all.find((group) => group.name === name);
    if (found === undefined) throw new ServiceError("TargetGroupNotFound", "One or more target groups not found");
    return found;
  });
}

function createTargetGroup(elbv2: Elbv2, input: CreateTargetGroupInput): TargetGroup {
  const { account } = elbv2;
  const name = checkedName(input.Name ?? "");
  const settings = checkedSettings(elbv2, input);
  const tags = withTags({}, input.Tags);
  const all = elbv2.targetGroups.values();
  const known = all.find((group) => group.name === name);
  if (known !== undefined) {
    const { arn: _arn, name: _name, attributes: _attributes, tags: _tags, ...present } = known;
    if (isDeepStrictEqual(present, settings)) return known;
    throw new ServiceError("DuplicateTargetGroupName", `A target group with the same name '${name}' exists, but with different settings`);
  }
  if (all.length >= account.settings().quotas.targetGroups) {
    throw new ServiceError("TooManyTargetGroups", "The maximum number of target groups has been reached");
  }
  const groupArn = arn(account, "elasticloadbalancing", `targetgroup/${name}/${account.ids.hex(16)}`);
  return elbv2.targetGroups.put(groupArn, { ...settings, arn: groupArn, name, attributes: {}, tags });
}

type Settings = Omit<TargetGroup, "arn" | "name" | "attributes" | "tags">;

const APPLICATION_PROTOCOLS = ["HTTP", "HTTPS"];
const VERSIONS: readonly ProtocolVersion[] = ["HTTP1", "HTTP2", "GRPC"];

function checkedSettings(elbv2: Elbv2, input: CreateTargetGroupInput): Settings {
  const { Protocol: protocol, Port: port, TargetType: targetType = "instance" } = input;
  if (targetType === "lambda") return functionSettings(input);
  if (protocol === undefined) throw new ServiceError("ValidationError", "A protocol must be specified");
  const known = Object.values(TYPES).some((rules) => Object.values(rules.protocols).some((protocols) => protocols?.includes(protocol)));
  if (!known) throw unmodelled(elbv2.account, `target groups with protocol ${protocol}`);
  if (targetType === "alb" && protocol !== "TCP") {
    throw invalidConfiguration(`The protocol ${protocol} is not supported for target groups of type alb`);
  }
  if (port === undefined) throw new ServiceError("ValidationError", "A port must be specified");
  const group = { protocol, targetType, version: checkedVersion(input) };
  return {
    ...group,
    port: checkedPort(port),
    vpcId: checkedVpc(elbv2, input),
    targetControlPort: controlPort(input),
    ipAddressType: input.IpAddressType ?? "ipv4",
    check: newCheck(group, input),
  };
}

/** Functions are called: they have neither protocol, nor port, nor place in a network. */
function functionSettings(input: CreateTargetGroupInput): Settings {
  for (const parameter of ["Protocol", "ProtocolVersion", "Port", "VpcId", "TargetControlPort"] as const) {
    if (input[parameter] !== undefined) throw invalidConfiguration(`${parameter} is not supported for target groups of type lambda`);
  }
  const group = { protocol: undefined, version: undefined, targetType: "lambda" as const };
  const check = newCheck(group, input);
  return { ...group, port: 0, vpcId: undefined, targetControlPort: undefined, ipAddressType: "ipv4", check };
}

function checkedVersion({ Protocol: protocol = "TCP", ProtocolVersion: asked }: CreateTargetGroupInput): ProtocolVersion | undefined {
  if (!APPLICATION_PROTOCOLS.includes(protocol)) {
    if (asked !== undefined) throw invalidConfiguration(`A protocol version cannot be specified for protocol ${protocol}`);
    return undefined;
  }
  if (asked === undefined) return "HTTP1";
  const version = VERSIONS.find((each) => each === asked);
  if (version === undefined)
    throw new ServiceError("ValidationError", `Protocol version '${asked}' must be one of '[${VERSIONS.join(", ")}]'`);
  return version;
}

function controlPort({
  Protocol: protocol = "TCP",
  TargetControlPort: port,
  TargetType: type,
}: CreateTargetGroupInput): number | undefined {
  if (port === undefined) return undefined;
  if (!APPLICATION_PROTOCOLS.includes(protocol) || type === "alb") {
    throw invalidConfiguration(`A target control port is not supported for protocol ${protocol}`);
  }
  return checkedPort(port);
}

function checkedPort(port: number): number {
  if (port < 1 || port > 65_535) throw new ServiceError("ValidationError", `The port must be between 1 and 65535, not ${port}`);
  return port;
}

function checkedVpc(elbv2: Elbv2, { VpcId: vpcId }: CreateTargetGroupInput): string {
  if (vpcId === undefined) throw new ServiceError("ValidationError", "A VPC ID must be specified");
  if (!elbv2.account.ec2.vpcs.has(vpcId)) throw new ServiceError("ValidationError", `The VPC ID '${vpcId}' is not found`);
  return vpcId;
}

function checkedName(name: string): string {
  if (!/^[a-zA-Z0-9-]{1,32}$/.test(name) || name.startsWith("-") || name.endsWith("-")) {
    throw new ServiceError(
      "ValidationError",
      `Target group name '${name}' must have 1 to 32 letters, digits or hyphens, and not begin or end with a hyphen`,
    );
  }
  return name;
}

function deleteTargetGroup(elbv2: Elbv2, groupArn: string): void {
  const group = elbv2.targetGroups.get(groupArn);
  if (group === undefined) return;
  if (loadBalancersOf(elbv2, groupArn).length > 0) {
    throw new ServiceError("ResourceInUse", `Target group '${groupArn}' is currently in use by a listener or a rule`);
  }
  for (const target of elbv2.found.targetsByGroup(groupArn)) elbv2.targets.delete(targetKey(target));
  elbv2.targetGroups.delete(groupArn);
}

function describe(elbv2: Elbv2, group: TargetGroup): TargetGroupAnswer {
  const { check, version } = group;
  const called = group.targetType === "lambda";
  return {
    TargetGroupArn: group.arn,
    TargetGroupName: group.name,
    Protocol: group.protocol,
    ProtocolVersion: version,
    Port: called ? undefined : group.port,
    VpcId: group.vpcId,
    HealthCheckProtocol: called ? undefined : check.protocol,
    HealthCheckPort: called ? undefined : check.port,
    HealthCheckEnabled: check.enabled,
    HealthCheckIntervalSeconds: check.interval,
    HealthCheckTimeoutSeconds: check.timeout,
    HealthyThresholdCount: check.healthyThreshold,
    UnhealthyThresholdCount: check.unhealthyThreshold,
    HealthCheckPath: check.path,
    Matcher: check.codes === undefined ? undefined : { [version === "GRPC" ? "GrpcCode" : "HttpCode"]: check.codes },
    LoadBalancerArns: [...loadBalancersOf(elbv2, group.arn)],
    TargetType: group.targetType,
    IpAddressType: group.ipAddressType,
    TargetControlPort: group.targetControlPort,
  };
}
