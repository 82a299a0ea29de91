/** What the tests of application load balancers share. */
import {
  type Action,
  CreateListenerCommand,
  type CreateListenerCommandInput,
  CreateLoadBalancerCommand,
  type CreateLoadBalancerCommandInput,
  CreateRuleCommand,
  type CreateRuleCommandInput,
  DescribeRulesCommand,
  type Listener,
  type LoadBalancer,
  type Rule,
  type RuleCondition,
  type TargetGroup,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { type BalancingBed, balancingBed, CERTIFICATE } from "../balancing/testing.ts";
import { group } from "./testing.ts";

/** An answer that needs no targets. */
export const NOT_FOUND: Action = { Type: "fixed-response", FixedResponseConfig: { StatusCode: "404", ContentType: "text/plain" } };

/** What an HTTPS listener takes. */
export const HTTPS = { Protocol: "HTTPS" as const, Port: 443, Certificates: [{ CertificateArn: CERTIFICATE }] };

/** The condition on paths. */
export function path(...Values: string[]): RuleCondition {
  return { Field: "path-pattern", PathPatternConfig: { Values } };
}

/** Forwards to these groups. */
export function forwardTo(...groups: readonly TargetGroup[]): Action {
  const TargetGroups = groups.map(({ TargetGroupArn }) => ({ TargetGroupArn }));
  return { Type: "forward", ForwardConfig: { TargetGroups } };
}

/** An application load balancer over three subnets, unless said otherwise. */
export async function application(bed: BalancingBed, input: Partial<CreateLoadBalancerCommandInput> = {}): Promise<LoadBalancer> {
  const made = await bed.elbv2.send(new CreateLoadBalancerCommand({ Name: "shop", Subnets: [...bed.subnets], ...input }));
  return made.LoadBalancers![0]!;
}

/** A listener on HTTP port 80 that finds nothing, unless said otherwise. */
export async function webListener(
  bed: BalancingBed,
  { LoadBalancerArn }: LoadBalancer,
  input: Partial<CreateListenerCommandInput> = {},
): Promise<Listener> {
  const command = new CreateListenerCommand({ LoadBalancerArn, Protocol: "HTTP", Port: 80, DefaultActions: [NOT_FOUND], ...input });
  return (await bed.elbv2.send(command)).Listeners![0]!;
}

/** A target group of addresses on HTTP port 8080. */
export function webGroup(bed: BalancingBed, Name: string, input: Parameters<typeof group>[1] = {}): Promise<TargetGroup> {
  return group(bed, { Name, Protocol: "HTTP", Port: 8080, TargetType: "ip", ...input });
}

/** A rule of the listener that answers 404 to a path of its own, unless said otherwise. */
export async function rule(
  bed: BalancingBed,
  { ListenerArn }: Listener,
  Priority: number,
  input: Partial<CreateRuleCommandInput> = {},
): Promise<Rule> {
  const usual = { Conditions: [path(`/${Priority}`)], Actions: [NOT_FOUND] };
  return (await bed.elbv2.send(new CreateRuleCommand({ ListenerArn, Priority, ...usual, ...input }))).Rules![0]!;
}

/** The rules of a listener as they are described now. */
export async function rules(bed: BalancingBed, { ListenerArn }: Listener): Promise<readonly Rule[]> {
  return (await bed.elbv2.send(new DescribeRulesCommand({ ListenerArn }))).Rules!;
}

/** A bed with an application load balancer that has a listener. */
export async function ruleBed(
  options: Parameters<typeof balancingBed>[0] = {},
  input: Partial<CreateListenerCommandInput> = {},
): Promise<BalancingBed & { readonly lb: LoadBalancer; readonly web: Listener }> {
  const bed = await balancingBed(options);
  const lb = await application(bed);
  return { ...bed, lb, web: await webListener(bed, lb, input) };
}
