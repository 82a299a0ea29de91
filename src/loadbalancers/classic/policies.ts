/** The two policies a classic load balancer may carry: the PROXY protocol on its backends, and a TLS policy on its listeners. */
import { createPolicy, setBackendPolicies, setListenerPolicies } from "../../aws/elb-actions.ts";
import { type Step, step } from "../../aws/plan.ts";
import type { ClassicLoadBalancer } from "../model.ts";
import { proxyProtocolPolicyName, sslPolicyName } from "../names.ts";

export interface SeenPolicies {
  /** Names of the policies the load balancer has, in use or not. */
  readonly names: readonly string[];
  /** Policies by backend port, for the ports that have any. */
  readonly backends: Readonly<Record<number, readonly string[]>>;
}

const none: SeenPolicies = { names: [], backends: {} };

export function planPolicies(
  model: ClassicLoadBalancer,
  seen: SeenPolicies = none,
  listeners: readonly { readonly port: number; readonly policies: readonly string[] }[],
): Step[] {
  return [...planProxyProtocol(model, seen), ...planTlsPolicy(model, seen, listeners)];
}

function planProxyProtocol({ name, askedBy, listeners, proxyProtocol }: ClassicLoadBalancer, seen: SeenPolicies): Step[] {
  const why = proxyProtocol
    ? `the ${askedBy}'s annotation asks for the PROXY protocol`
    : `the ${askedBy} does not ask for the PROXY protocol`;
  const ports = [...new Set(listeners.map(({ instancePort }) => instancePort))];
  const creation = step(
    createPolicy,
    {
      LoadBalancerName: name,
      PolicyName: proxyProtocolPolicyName,
      PolicyTypeName: "ProxyProtocolPolicyType",
      PolicyAttributes: [{ AttributeName: "ProxyProtocol", AttributeValue: "true" }],
    },
    { what: `create policy ${proxyProtocolPolicyName} on load balancer ${name}`, why, settledBy: ["DuplicatePolicyName"] },
  );
  const set = (port: number, policies: readonly string[]) =>
    step(
      setBackendPolicies,
      { LoadBalancerName: name, InstancePort: port, PolicyNames: policies },
      { what: `set ${policies.join(", ") || "no"} policy on backend port ${port} of load balancer ${name}`, why },
    );
  const has = (port: number) => seen.backends[port]?.includes(proxyProtocolPolicyName) ?? false;
  const stale = Object.entries(seen.backends)
    .map(([port]) => Number(port))
    .filter((port) => (seen.backends[port]?.length ?? 0) > 0 && !ports.includes(port));
  return [
    ...(proxyProtocol && !seen.names.includes(proxyProtocolPolicyName) ? [creation] : []),
    ...ports.filter((port) => has(port) !== proxyProtocol).map((port) => set(port, proxyProtocol ? [proxyProtocolPolicyName] : [])),
    ...stale.map((port) => set(port, [])),
  ];
}

function planTlsPolicy(
  { name, askedBy, listeners, sslPolicy }: ClassicLoadBalancer,
  seen: SeenPolicies,
  present: readonly { readonly port: number; readonly policies: readonly string[] }[],
): Step[] {
  if (sslPolicy === undefined) return [];
  const policy = sslPolicyName(sslPolicy);
  const why = `the ${askedBy}'s annotation asks for this TLS policy`;
  const secure = listeners.filter(({ protocol }) => protocol === "ssl" || protocol === "https");
  const unset = secure.filter(({ port }) => !present.some((listener) => listener.port === port && listener.policies.includes(policy)));
  const creation = step(
    createPolicy,
    {
      LoadBalancerName: name,
      PolicyName: policy,
      PolicyTypeName: "SSLNegotiationPolicyType",
      PolicyAttributes: [{ AttributeName: "Reference-Security-Policy", AttributeValue: sslPolicy }],
    },
    { what: `create policy ${policy} on load balancer ${name}`, why, settledBy: ["DuplicatePolicyName"] },
  );
  return [
    ...(seen.names.includes(policy) ? [] : [creation]),
    ...unset.map(({ port }) =>
      step(
        setListenerPolicies,
        { LoadBalancerName: name, LoadBalancerPort: port, PolicyNames: [policy] },
        { what: `set policy ${policy} on port ${port} of load balancer ${name}`, why },
      ),
    ),
  ];
}
