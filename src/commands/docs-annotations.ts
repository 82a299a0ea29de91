/** The reference page of Service annotations, from the table that parses them. */
import { type AnnotationRow, annotationPrefix, annotationTable, sourceRangesAnnotation } from "../loadbalancers/service/annotations.ts";
import { drainMs, healthLimitMs } from "../loadbalancers/service/replacement.ts";
import { configurationCondition, namedCondition, replacedCondition } from "../loadbalancers/service/report.ts";

export function annotationsPage(row: (cells: readonly string[]) => string): string {
  const rows = Object.entries<AnnotationRow>(annotationTable).map(([name, { kinds, takes, unset, meaning }]) =>
    row([`\`${name}\``, kinds.join(", "), takes, unset, meaning]),
  );
  const minutes = (ms: number) => `${ms / 60_000} minutes`;
  return `# Annotations of a Service of type LoadBalancer

<!-- Generated from the table in src/loadbalancers/service/annotations.ts; run \`npm run docs\` after changing it. -->

Every key below is written with the prefix \`${annotationPrefix}\`, for example \`${annotationPrefix}type: nlb\`.

| Annotation | Kinds | Takes | Without it | Meaning |
|---|---|---|---|---|
${rows.join("\n")}

One more key has a name of its own: \`${sourceRangesAnnotation}\`, the CIDR blocks that may reach the load balancer, separated by
commas. \`spec.loadBalancerSourceRanges\` goes before it; without either everybody may.

## When a value is wrong

Everything is read before anything is done. A value that cannot be used gives a Warning Event \`SyncLoadBalancerFailed\` and the condition
\`${configurationCondition}\` (status False) on the Service, both naming the key, the value and what is allowed. The load balancer that
stands stays as it is, its targets go on following the nodes, and other Services are not affected. A key that looks like a misspelling of
one above gives an Event \`LoadBalancerWarning\` and the same condition with status True. The condition is there only while something is
to be said. \`fairlead explain service/NAME\` tells the same with what to do about it.

## Health checks

| | Classic | Network | Network, \`externalTrafficPolicy: Local\` |
|---|---|---|---|
| Protocol | TCP; SSL behind \`backend-protocol\` https or ssl | TCP | HTTP |
| Port | the first port's node port | \`traffic-port\` | \`spec.healthCheckNodePort\` |
| Path | \`/\` for HTTP and HTTPS | \`/\` for HTTP and HTTPS | \`/healthz\` |
| Interval | 10 s | 30 s | 10 s |
| Healthy, unhealthy after | 2, 6 | 3, 3 | 2, 2 |

A classic load balancer with \`externalTrafficPolicy: Local\` is checked by HTTP on \`spec.healthCheckNodePort\`, path \`/healthz\`. With
\`ClusterServiceLoadBalancerHealthProbeMode = Shared\` in the cloud config, Services of other traffic policies are checked by HTTP on the
shared port and path.

## Changing the kind

A changed \`type\` is refused once an address is published, because the address would change. With \`type-change: replace\` the new load
balancer is made first; its address is published when every port has a healthy target, or ${minutes(healthLimitMs)} after its creation;
the old one is kept for ${minutes(drainMs)} from then on (condition \`${replacedCondition}\`) and deleted.

## What is read only when a load balancer is made

\`internal\`, \`name\` and, on network load balancers, \`subnets\`, \`eip-allocations\`, \`private-ipv4-addresses\`, \`additional-resource-tags\`
and the address family: a network load balancer is dual-stack when the Service has both families, all its subnets have IPv6 blocks and
none of its ports is UDP.

Before a load balancer is made under a \`name\` of your choice, the name is written down in the condition \`${namedCondition}\` of the
Service's status: by it the load balancer is found, and in the end deleted, when the annotation was changed or removed meanwhile.
`;
}
