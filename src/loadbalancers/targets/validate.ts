/**
 * What may be wrong with a TargetGroupBinding, and what is filled in where it says nothing. Pure: reconcile asks here,
 * and so can a webhook.
 */
import type { TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type AddressType, addressTypes, type BindingSpec, groupProtocols, type TargetType, targetTypes } from "./binding.ts";
import { isQuic } from "./quic.ts";

/** Why nothing is done for a binding: a word for its condition, and a text for its author. */
export interface BindingProblem {
  readonly reason:
    | "InvalidSpec"
    | "TargetGroupNotFound"
    | "UnsupportedTargetType"
    | "TargetGroupMismatch"
    | "TargetGroupAlreadyBound"
    | "TargetGroupAmbiguous";
  readonly message: string;
}

/** What a check is called in metrics of admission, and what it says. */
interface Check {
  readonly category: string;
  problem(spec: BindingSpec): string | false | undefined;
}

const vpcPattern = /^vpc-([0-9a-f]{8}|[0-9a-f]{17}|[0-9a-f]{32})$/;

/** What is wrong whatever the target group is like, in the words that users of the reference know where it has any. */
const checks: readonly Check[] = [
  {
    category: "checkRequiredFields",
    problem: ({ targetGroupARN, targetGroupName }) =>
      !targetGroupARN && !targetGroupName && "TargetGroupBinding must specify these fields: either TargetGroupARN or TargetGroupName",
  },
  {
    category: "checkRequiredFields",
    problem: ({ serviceRef }) => !serviceRef.name && "spec.serviceRef.name must name a Service of the same namespace",
  },
  { category: "checkTargetType", problem: ({ targetType }) => unknown("spec.targetType", targetType, targetTypes) },
  {
    category: "checkTargetGroupIPAddressType",
    problem: ({ ipAddressType }) => unknown("spec.ipAddressType", ipAddressType, addressTypes),
  },
  {
    category: "checkTargetGroupProtocol",
    problem: ({ targetGroupProtocol }) => unknown("spec.targetGroupProtocol", targetGroupProtocol, groupProtocols),
  },
  {
    category: "checkNodeSelector",
    problem: ({ targetType, nodeSelector }) =>
      targetType === "ip" && nodeSelector !== undefined && "TargetGroupBinding cannot set NodeSelector when TargetType is ip",
  },
  {
    category: "checkTargetGroupVpcID",
    problem: ({ vpcID }) =>
      Boolean(vpcID) &&
      !vpcPattern.test(vpcID!) &&
      `ValidationError: vpcID ${vpcID} failed to satisfy constraint: VPC Id must begin with 'vpc-' followed by 8, 17 or 32 lowercase letters (a-f) or numbers.`,
  },
  {
    category: "checkAssumeRoleConfig",
    problem: ({ targetType, iamRoleArnToAssume }) =>
      targetType === "instance" && Boolean(iamRoleArnToAssume) && "Unable to use instance target type while using assume role",
  },
  {
    category: "checkTargetGroupProtocol",
    problem: ({ targetType, targetGroupProtocol }) =>
      targetType === "instance" && isQuic(targetGroupProtocol) && "QUIC protocol is not supported for Instance target types.",
  },
  { category: "checkNetworking", problem: ({ networking }) => peersProblem(networking) },
];

export function specProblems(spec: BindingSpec): readonly (BindingProblem & { readonly category: string })[] {
  return checks.flatMap(({ category, problem }) => {
    const message = problem(spec);
    return message ? [{ reason: "InvalidSpec" as const, category, message }] : [];
  });
}

function unknown(key: string, value: string | undefined, allowed: readonly string[]): string | false {
  return value !== undefined && !allowed.includes(value) && `${key} ${JSON.stringify(value)}: allowed are ${allowed.join(", ")}`;
}

function peersProblem(networking: BindingSpec["networking"]): string | undefined {
  for (const [i, { from }] of (networking?.ingress ?? []).entries()) {
    for (const [j, { ipBlock, securityGroup }] of from.entries()) {
      const where = `spec.networking.ingress[${i}].from[${j}]`;
      if (ipBlock && securityGroup) return `${where} has ipBlock and securityGroup: a peer is one of them`;
      if (!ipBlock && !securityGroup) return `${where}: either ipBlock or securityGroup should be specified`;
    }
  }
  return undefined;
}

/** Another binding, as far as it matters to this one. */
export interface OtherBinding {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdBefore: boolean;
  readonly multiCluster: boolean;
}

/**
 * A target group belongs to one binding, unless all of them share it. Of several that do not, the first one keeps it: a
 * second that takes up the same group by mistake would deregister what the first has registered.
 */
export function sharingProblem(spec: BindingSpec, others: readonly OtherBinding[]): BindingProblem | undefined {
  const first = others.filter(({ createdBefore }) => createdBefore);
  const rivals = spec.multiClusterTargetGroup ? first.filter(({ multiCluster }) => !multiCluster) : first;
  if (rivals.length === 0) return undefined;
  const arn = spec.targetGroupARN;
  const names = others.map(({ namespace, name }) => `${namespace}/${name}`).toSorted();
  return {
    reason: "TargetGroupAlreadyBound",
    message: `TargetGroup ${arn} is already bound to following TargetGroupBindings [${names.join(" ")}]. Please enable MultiCluster mode on all TargetGroupBindings referencing ${arn} or choose a different Target Group ARN.`,
  };
}

/** What a target group says about itself. */
export interface GroupFacts {
  readonly arn: string;
  readonly type: string;
  readonly addressType: string;
  readonly vpc: string;
  readonly protocol: string;
}

export function factsOf(group: TargetGroup): GroupFacts {
  return {
    arn: group.TargetGroupArn ?? "",
    type: group.TargetType ?? "",
    addressType: group.IpAddressType || "ipv4",
    vpc: group.VpcId ?? "",
    protocol: group.Protocol ?? "",
  };
}

/** Where a binding contradicts the group that it names. */
export function groupProblems(spec: BindingSpec, group: GroupFacts): readonly (BindingProblem & { readonly category: string })[] {
  if (!isOneOf(targetTypes, group.type))
    return [
      {
        reason: "UnsupportedTargetType",
        category: "checkTargetType",
        message: `unsupported TargetType: ${group.type}: target group ${group.arn} takes no instances and no addresses`,
      },
    ];
  if (!isOneOf(addressTypes, group.addressType)) {
    const message = `unable to get target group IP address type: unsupported IPAddressType: ${group.addressType}`;
    return [{ reason: "UnsupportedTargetType", category: "checkTargetGroupIPAddressType", message }];
  }
  const mismatches = {
    checkTargetType:
      spec.targetType !== undefined &&
      spec.targetType !== group.type &&
      `spec.targetType ${spec.targetType} differs from that of TargetGroup ${group.arn}: ${group.type}`,
    checkTargetGroupIPAddressType:
      spec.ipAddressType !== undefined &&
      spec.ipAddressType !== group.addressType &&
      `invalid IP address type ${group.addressType} for TargetGroup ${group.arn}`,
    checkTargetGroupVpcID:
      Boolean(spec.vpcID) && spec.vpcID !== group.vpc && `invalid VpcID ${spec.vpcID} doesnt match VpcID from TargetGroup ${group.arn}`,
    checkTargetGroupProtocol:
      spec.targetGroupProtocol !== undefined &&
      spec.targetGroupProtocol !== group.protocol &&
      `TargetGroup ${group.arn} protocol differs (got ${spec.targetGroupProtocol}, expected ${group.protocol})`,
  };
  return Object.entries(mismatches).flatMap(([category, message]) =>
    message ? [{ reason: "TargetGroupMismatch" as const, category, message }] : [],
  );
}

/** A spec that says everything. */
export type CompleteSpec = BindingSpec &
  Required<Pick<BindingSpec, "targetGroupARN" | "targetType" | "ipAddressType" | "vpcID" | "targetGroupProtocol">>;

/** Whether nothing has to be asked of AWS to know what is meant. A binding without an address type means IPv4. */
export function isComplete(spec: BindingSpec): boolean {
  return Boolean(spec.targetGroupARN && spec.targetType && spec.vpcID && spec.targetGroupProtocol);
}

/** What a binding says nothing of, as its group has it. Call it where there are no problems. */
export function defaultsFor(spec: BindingSpec, group: GroupFacts): Partial<BindingSpec> {
  return {
    ...(!spec.targetGroupARN && { targetGroupARN: group.arn }),
    ...(spec.targetType === undefined && { targetType: group.type as TargetType }),
    ...(spec.ipAddressType === undefined && { ipAddressType: group.addressType as AddressType }),
    ...(!spec.vpcID && { vpcID: group.vpc }),
    ...(spec.targetGroupProtocol === undefined && { targetGroupProtocol: group.protocol }),
  };
}

function isOneOf<T extends string>(allowed: readonly T[], value: string): value is T {
  return (allowed as readonly string[]).includes(value);
}
