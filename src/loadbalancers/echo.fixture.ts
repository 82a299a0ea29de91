/**
 * What AWS would tell after the steps of a plan were carried out, made from nothing but the calls: a test that plans
 * against it goes by what was asked of AWS and by how its answers are read, not by the model both come from.
 */
import type { LoadBalancerAttributes, LoadBalancerDescription } from "@aws-sdk/client-elastic-load-balancing";
import type { Listener, TargetGroup, TargetHealthDescription } from "@aws-sdk/client-elastic-load-balancing-v2";
import { planJson, type Step } from "../aws/plan.ts";
import { seeAttributes, seeClassic } from "./classic/observe.ts";
import type { SeenClassic } from "./classic/plan.ts";
import type { SeenGroup, SeenRule } from "./groups/managed.ts";
import { seeListener } from "./network/observe.ts";
import type { SeenNetwork } from "./network/plan.ts";
import { seeTargetGroup } from "./target-groups.ts";

// biome-ignore lint/suspicious/noExplicitAny: inputs of every action there is, as they go over the wire
type Input = any;
type Calls = readonly { readonly action: string; readonly input: Input }[];

const callsOf = (steps: readonly Step[]) =>
  (planJson(steps) as Calls).map(({ action, input }) => ({ action: action.replace(/^.*:/, ""), input }));
const of = (calls: Calls, name: string): readonly Input[] => calls.filter(({ action }) => action === name).map(({ input }) => input);

/** A classic load balancer and its group. */
export function echoClassic(steps: readonly Step[]): SeenClassic & { loadBalancer: NonNullable<SeenClassic["loadBalancer"]> } {
  const calls = callsOf(steps);
  const [made] = of(calls, "CreateLoadBalancer");
  const policies = of(calls, "SetLoadBalancerPoliciesOfListener");
  const description: LoadBalancerDescription = {
    LoadBalancerName: made.LoadBalancerName,
    Subnets: made.Subnets,
    SecurityGroups: made.SecurityGroups,
    ListenerDescriptions: made.Listeners.map((listener: Input) => ({
      Listener: { ...listener, Protocol: listener.Protocol.toUpperCase(), InstanceProtocol: listener.InstanceProtocol.toUpperCase() },
      PolicyNames: policies.findLast((set) => set.LoadBalancerPort === listener.LoadBalancerPort)?.PolicyNames ?? [],
    })),
    Policies: { OtherPolicies: of(calls, "CreateLoadBalancerPolicy").map(({ PolicyName }) => PolicyName) },
    BackendServerDescriptions: of(calls, "SetLoadBalancerPoliciesForBackendServer").map(({ InstancePort, PolicyNames }) => ({
      InstancePort,
      PolicyNames,
    })),
    HealthCheck: of(calls, "ConfigureHealthCheck").at(-1)?.HealthCheck,
    Instances: of(calls, "RegisterInstancesWithLoadBalancer").flatMap(({ Instances }) => Instances),
  };
  const set: LoadBalancerAttributes = of(calls, "ModifyLoadBalancerAttributes").at(-1)?.LoadBalancerAttributes ?? {};
  // AWS tells a draining timeout also while draining is off.
  const attributes: LoadBalancerAttributes = {
    AccessLog: { Enabled: false, ...set.AccessLog },
    ConnectionDraining: { Enabled: false, ...set.ConnectionDraining, Timeout: set.ConnectionDraining?.Timeout ?? 300 },
    ConnectionSettings: { IdleTimeout: 60, ...set.ConnectionSettings },
    CrossZoneLoadBalancing: { Enabled: false, ...set.CrossZoneLoadBalancing },
  };
  const managedGroup = echoGroup(calls);
  return {
    kind: "classic",
    loadBalancer: seeClassic(description, seeAttributes(attributes), undefined),
    ...(managedGroup && { managedGroup }),
  };
}

/** A network load balancer with all its parts. */
export function echoNetwork(steps: readonly Step[]): SeenNetwork & { loadBalancer: NonNullable<SeenNetwork["loadBalancer"]> } {
  const calls = callsOf(steps);
  const [made] = of(calls, "CreateLoadBalancer");
  const attributesSet = (inputs: readonly Input[]) =>
    Object.fromEntries(inputs.flatMap(({ Attributes }) => Attributes.map(({ Key, Value }: Input) => [Key, Value])));
  const groups = of(calls, "CreateTargetGroup").map((input) => {
    const arn = `<target group ${input.Name}>`;
    const toGroup = (name: string) => of(calls, name).filter(({ TargetGroupArn }) => TargetGroupArn === arn);
    const group: TargetGroup = { ...input, TargetGroupArn: arn, TargetGroupName: input.Name, LoadBalancerArns: [] };
    const health = toGroup("RegisterTargets").flatMap(({ Targets }) =>
      Targets.map((Target: Input): TargetHealthDescription => ({ Target, TargetHealth: { State: "healthy" } })),
    );
    const defaults = { "preserve_client_ip.enabled": "true", "proxy_protocol_v2.enabled": "false" };
    return seeTargetGroup(group, health, { ...defaults, ...attributesSet(toGroup("ModifyTargetGroupAttributes")) });
  });
  const listeners = of(calls, "CreateListener").map(
    (input): Listener => ({
      ...input,
      ListenerArn: `arn:listener:${input.Port}`,
      ...(input.Protocol === "TLS" && { SslPolicy: input.SslPolicy ?? "ELBSecurityPolicy-2016-08" }),
    }),
  );
  const defaults = {
    "load_balancing.cross_zone.enabled": "false",
    "access_logs.s3.enabled": "false",
    "deletion_protection.enabled": "false",
  };
  const managedGroup = echoGroup(calls);
  return {
    kind: "network",
    loadBalancer: {
      arn: `<load balancer ${made.Name}>`,
      securityGroups: made.SecurityGroups,
      attributes: { ...defaults, ...attributesSet(of(calls, "ModifyLoadBalancerAttributes")) },
      listeners: listeners.map(seeListener),
    },
    targetGroups: groups,
    ...(managedGroup && { managedGroup }),
  };
}

function echoGroup(calls: Calls): SeenGroup | undefined {
  const [made] = of(calls, "CreateSecurityGroup");
  if (made === undefined) return undefined;
  const permissions = of(calls, "AuthorizeSecurityGroupIngress").flatMap(({ IpPermissions }) => IpPermissions);
  const rules = permissions.flatMap(({ IpProtocol, FromPort, ToPort, IpRanges = [], Ipv6Ranges = [] }: Input) =>
    [...IpRanges, ...Ipv6Ranges].map(({ CidrIp, CidrIpv6, Description }: Input) => ({
      protocol: IpProtocol,
      fromPort: FromPort,
      toPort: ToPort,
      cidr: CidrIp ?? CidrIpv6,
      description: Description,
    })),
  );
  return {
    id: `<security group ${made.GroupName}>`,
    name: made.GroupName,
    tags: Object.fromEntries(made.TagSpecifications[0].Tags.map(({ Key, Value }: Input) => [Key, Value])),
    owned: true,
    rules: rules.map((rule: Omit<SeenRule, "id">, i: number) => ({ id: `sgr-${i}`, ...rule })),
  };
}
