/**
 * What the calls of a cluster are checked on, as the service authorization reference tells it
 * (https://docs.aws.amazon.com/service-authorization/latest/reference/): which resources, and what is known of each.
 */
import { requestedRegion } from "../../../aws/global-services.ts";
import { type Account, arn } from "../account.ts";
import { autoScalingOf } from "../autoscaling/state.ts";
import { KINDS } from "../ec2/kinds.ts";
import { instanceProfiles } from "../iam/instance-profiles.ts";
import type { CheckedResource } from "./policy.ts";

export interface Attempt {
  /** The permission: `ec2:CreateTags`. */
  readonly permission: string;
  /** The operation that was called, which may need further permissions: `CreateSecurityGroup`. */
  readonly called: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Where the call was made. */
  readonly region: string;
}

/** The resources of a call, each with the values of its condition keys. Reads are checked on everything at once. */
export function checkedResources(account: Account, attempt: Attempt): readonly CheckedResource[] {
  const { permission, called, input, region } = attempt;
  const [service = "", action = ""] = permission.split(":");
  // Passing a role is checked as a part of the call; a service that calls another for the caller calls it where that one is.
  const request: Record<string, string> = { "aws:RequestedRegion": action === "PassRole" ? region : requestedRegion(service, region) };
  for (const [key, value] of requestTags(input)) request[`aws:RequestTag/${key}`] = value;
  if (action !== called) request[`${service}:CreateAction`] = called;
  const found = resourcesOf(account, service, action, attempt).map(({ name, tags = {}, vpcId }) => ({
    arn: name,
    context: {
      ...request,
      ...Object.fromEntries(Object.entries(tags).map(([key, value]) => [`aws:ResourceTag/${key}`, value])),
      ...(vpcId && { "ec2:Vpc": arn(account, "ec2", `vpc/${vpcId}`) }),
      ...(action === "CreateServiceLinkedRole" && { "iam:AWSServiceName": linkedService }),
      ...(action === "PassRole" && { "iam:PassedToService": "ec2.amazonaws.com" }),
    },
  }));
  return found.length > 0 ? found : [{ arn: "*", context: request }];
}

interface Found {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly vpcId?: string | undefined;
}

const linkedService = "elasticloadbalancing.amazonaws.com";

function resourcesOf(account: Account, service: string, action: string, { called, input }: Attempt): readonly Found[] {
  if (service === "ec2") return ec2Resources(account, action, called, input);
  if (service === "elasticloadbalancing") return balancingResources(account, action, called, input);
  if (service === "sqs") return queueResources(account, input);
  if (service === "autoscaling") return groupResources(account, action, input);
  if (service === "events") return texts(input, ["Name", "Rule"]).map((each) => ({ name: arn(account, "events", `rule/${each}`) }));
  if (service === "acm") return certificateResources(account, called, input);
  if (service === "route53")
    return texts(input, ["HostedZoneId"]).map((id) => ({ name: `arn:${account.partition}:route53:::hostedzone/${id}` }));
  if (service === "wafv2") return texts(input, ["WebACLArn", "ResourceArn"]).map((name) => ({ name }));
  if (service === "ecr") return texts(input, ["repositoryName"]).map((each) => ({ name: arn(account, "ecr", `repository/${each}`) }));
  if (action === "PassRole") return passedRoles(account, input);
  // A role that is put into a profile is passed, which is checked apart.
  if (service === "iam" && "InstanceProfileName" in input)
    return texts(input, ["InstanceProfileName"]).map(iamNamed(account, "instance-profile"));
  if (service === "iam" && "RoleName" in input) return texts(input, ["RoleName"]).map(iamNamed(account, "role"));
  if (action === "SimulatePrincipalPolicy") return texts(input, ["PolicySourceArn"]).map((name) => ({ name }));
  if (action !== "CreateServiceLinkedRole") return [];
  const role = `role/aws-service-role/${linkedService}/AWSServiceRoleForElasticLoadBalancing`;
  return [{ name: `arn:${account.partition}:iam::${account.id}:${role}` }];
}

function iamNamed({ partition, id }: Account, kind: string): (name: string) => Found {
  return (name) => ({ name: `arn:${partition}:iam::${id}:${kind}/${name}` });
}

/** The role itself, or the one in the profile that an instance is launched with. */
function passedRoles(account: Account, input: Attempt["input"]): readonly Found[] {
  const { Name, Arn } = (input.IamInstanceProfile ?? {}) as { readonly Name?: string; readonly Arn?: string };
  const profile = Name ?? Arn?.split("/").at(-1);
  const inProfile = profile === undefined ? [] : [instanceProfiles(account).get(profile)?.role ?? profile];
  return [...texts(input, ["RoleName"]), ...inProfile].map(iamNamed(account, "role"));
}

/** The parameters whose ids a policy can speak of; others of the same call (the target of a route) are not checked. */
const ec2Parameters: Readonly<Record<string, readonly string[]>> = {
  CreateTags: ["Resources"],
  DeleteTags: ["Resources"],
  CreateRoute: ["RouteTableId"],
  ReplaceRoute: ["RouteTableId"],
  DeleteRoute: ["RouteTableId"],
  ModifyInstanceAttribute: ["InstanceId"],
  ModifyNetworkInterfaceAttribute: ["NetworkInterfaceId"],
  CreateSecurityGroup: ["VpcId"],
  AuthorizeSecurityGroupIngress: ["GroupId"],
  RevokeSecurityGroupIngress: ["GroupId"],
  UpdateSecurityGroupRuleDescriptionsIngress: ["GroupId"],
  DeleteSecurityGroup: ["GroupId"],
  AttachVolume: ["VolumeId", "InstanceId"],
  DetachVolume: ["VolumeId", "InstanceId"],
  TerminateInstances: ["InstanceIds"],
  ModifyVolume: ["VolumeId"],
  DeleteVolume: ["VolumeId"],
  CopyVolumes: ["SourceVolumeId"],
  CreateSnapshot: ["VolumeId"],
  DeleteSnapshot: ["SnapshotId"],
  LockSnapshot: ["SnapshotId"],
  UnlockSnapshot: ["SnapshotId"],
  EnableFastSnapshotRestores: ["SourceSnapshotIds"],
  DisableFastSnapshotRestores: ["SourceSnapshotIds"],
};

/** What calls make, which is checked before it has an id. */
const ec2Makes: Readonly<Record<string, string>> = {
  CreateSecurityGroup: "security-group",
  CreateVolume: "volume",
  CopyVolumes: "volume",
  CreateSnapshot: "snapshot",
};

/** A launch is checked on all that it makes and uses; its tags on what they are put on. */
function launchResources(account: Account, action: string, input: Attempt["input"]): readonly Found[] {
  const of = (resource: string) => ({ name: arn(account, "ec2", resource) });
  const specifications = (input.TagSpecifications ?? []) as readonly { readonly ResourceType?: string }[];
  if (action === "CreateTags") return specifications.map(({ ResourceType = "" }) => of(`${ResourceType}/*`));
  const interfaces = (input.NetworkInterfaces ?? []) as readonly Attempt["input"][];
  const used = [input, ...interfaces].flatMap((each) => [
    ...texts(each, ["SubnetId"]).map((id) => of(`subnet/${id}`)),
    ...texts(each, ["SecurityGroupIds", "Groups"]).map((id) => of(`security-group/${id}`)),
  ]);
  return [
    ...["instance/*", "volume/*", "network-interface/*"].map(of),
    ...texts(input, ["ImageId"]).map((id) => ({ name: `arn:${account.partition}:ec2:${account.region}::image/${id}` })),
    ...texts(input, ["KeyName"]).map((name) => of(`key-pair/${name}`)),
    ...used,
  ];
}

function ec2Resources(account: Account, action: string, called: string, input: Attempt["input"]): readonly Found[] {
  if (called === "RunInstances") return launchResources(account, action, input);
  const { vpcs, instances, interfaces, securityGroups, routeTables, volumes, snapshots } = account.ec2;
  const tables = { vpc: vpcs, i: instances, eni: interfaces, sg: securityGroups, rtb: routeTables, vol: volumes, snap: snapshots };
  const kindMade = ec2Makes[called];
  const made = kindMade === undefined ? [] : [{ name: arn(account, "ec2", `${kindMade}/*`) }];
  const named = texts(input, ec2Parameters[action] ?? []).flatMap((id) => {
    const kind = Object.values(KINDS).find(({ prefix }) => id.startsWith(`${prefix}-`));
    if (kind === undefined) return [];
    const record = tables[kind.prefix as keyof typeof tables]?.get(id);
    return [
      {
        name: arn(account, "ec2", `${kind.type}/${id}`),
        tags: record?.tags,
        vpcId: record && "vpcId" in record ? record.vpcId : undefined,
      },
    ];
  });
  return [...made, ...named];
}

/** Of the parameters that name a load balancer or a part of one; what is nested in others is not checked. */
const balancingParameters = ["LoadBalancerArn", "ResourceArn", "ListenerArn", "RuleArn", "TargetGroupArn", "TrustStoreArn", "ResourceArns"];
const balancingTables = ["load-balancers", "listeners", "rules", "target-groups", "trust-stores"];
/** What the tags of a new part are checked on: the part, under the ARN of what it is made in. */
const madeIn: Readonly<Record<string, readonly [string, string, string]>> = {
  CreateListener: ["LoadBalancerArn", ":loadbalancer/", ":listener/"],
  CreateRule: ["ListenerArn", ":listener/", ":listener-rule/"],
};

function balancingResources(account: Account, action: string, called: string, input: Attempt["input"]): readonly Found[] {
  if (action.startsWith("Describe")) return [];
  const { store } = account;
  const elb = (resource: string) => arn(account, "elasticloadbalancing", resource);
  const [name = ""] = texts(input, ["Name"]);
  const family = input.Type === "network" ? "net" : "app";
  if (called === "CreateLoadBalancer" && name !== "") return [{ name: elb(`loadbalancer/${family}/${name}/0000000000000000`) }];
  if (called === "CreateTargetGroup") return [{ name: elb(`targetgroup/${name}/0000000000000000`) }];
  if (called === "CreateTrustStore") return [{ name: elb(`truststore/${name}/0000000000000000`) }];
  const [parameter, outer, inner] = madeIn[called] ?? [];
  if (parameter !== undefined && action === "AddTags") {
    return texts(input, [parameter]).map((id) => ({ name: `${id.replace(outer!, inner!)}/0000000000000000` }));
  }
  const rules = (input.RulePriorities as readonly { readonly RuleArn?: string }[] | undefined) ?? [];
  const tables = balancingTables.map((table) => store.table<Tagged>(`elbv2/${table}`));
  const parts = [...texts(input, balancingParameters), ...rules.flatMap(({ RuleArn }) => RuleArn ?? [])].map((id) => ({
    name: id,
    tags: tables.map((table) => table.get(id)).find((record) => record !== undefined)?.tags,
  }));
  const classics = texts(input, ["LoadBalancerName", "LoadBalancerNames"]).map((each) => ({
    name: elb(`loadbalancer/${each}`),
    tags: store.table<Tagged>("elb/load-balancers").get(each)?.tags,
  }));
  return [...parts, ...classics];
}

/** A queue is named by its URL, or before it exists by its name. */
function queueResources(account: Account, input: Attempt["input"]): readonly Found[] {
  return texts(input, ["QueueUrl", "QueueName"]).map((each) => {
    const name = each.split("/").at(-1) ?? "";
    return { name: arn(account, "sqs", name), tags: account.sqs.queues.get(name)?.tags };
  });
}

/** Groups by name; a call that names an instance is checked on the group of that instance. */
function groupResources(account: Account, action: string, input: Attempt["input"]): readonly Found[] {
  if (action.startsWith("Describe")) return [];
  const { groups, members } = autoScalingOf(account);
  // Tags name the group that each is put on.
  const tagged =
    (input.Tags as readonly { readonly ResourceId?: string }[] | undefined)?.flatMap(({ ResourceId = [] }) => ResourceId) ?? [];
  const named = [...texts(input, ["AutoScalingGroupName"]), ...(action === "CreateOrUpdateTags" ? tagged : [])];
  const byInstance = named.length > 0 ? [] : texts(input, ["InstanceId"]).flatMap((id) => members.get(id)?.group ?? []);
  return [...named, ...byInstance].map((name) => {
    const group = groups.get(name);
    const tags = group && Object.fromEntries(group.tags.map(({ key, value }) => [key, value]));
    return { name: group?.arn ?? arn(account, "autoscaling", `autoScalingGroup:*:autoScalingGroupName/${name}`), ...(tags && { tags }) };
  });
}

function certificateResources(account: Account, called: string, input: Attempt["input"]): readonly Found[] {
  const named = texts(input, ["CertificateArn"]);
  if (named.length === 0 && called !== "ListCertificates") return [{ name: arn(account, "acm", "certificate/new") }];
  return named.map((name) => ({ name, tags: account.store.table<Tagged>("acm/certificates").get(name)?.tags ?? {} }));
}

interface Tagged {
  readonly tags: Readonly<Record<string, string>>;
}

function texts(input: Attempt["input"], parameters: readonly string[]): readonly string[] {
  return parameters.flatMap((parameter) => input[parameter] ?? []).filter((value): value is string => typeof value === "string");
}

/** The tags that a call carries, whichever way its service takes them. */
function requestTags({ Tags, TagSpecifications }: Attempt["input"]): readonly (readonly [string, string])[] {
  type Listed = { readonly Key?: string; readonly Value?: string };
  const specified = (TagSpecifications as readonly { readonly Tags?: readonly Listed[] }[] | undefined) ?? [];
  const own = Array.isArray(Tags)
    ? (Tags as readonly Listed[])
    : Object.entries(Tags ?? {}).map(([Key, Value]) => ({ Key, Value: String(Value) }));
  const listed = [...own, ...specified.flatMap((each) => each.Tags ?? [])];
  return listed.map(({ Key = "", Value = "" }) => [Key, Value] as const);
}
