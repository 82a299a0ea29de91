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

One more key has another prefix: \`${sourceRangesAnnotation}\`, the CIDR blocks that may reach the load balancer, separated by
commas. \`spec.loadBalancerSourceRanges\` takes precedence; without either, everybody may reach it.

## When a value is wrong

All annotations are read before anything is changed. An invalid value gives a Warning Event \`SyncLoadBalancerFailed\` and the condition
\`${configurationCondition}\` (status False) on the Service; both name the key, the value and what is allowed. The existing load balancer
stays as it is, its targets continue to follow the nodes, and other Services are not affected. A key that looks like a misspelling of
one above gives an Event \`LoadBalancerWarning\` and the same condition with status True. The condition exists only while there is
something to report. \`fairlead explain service/NAME\` shows the same with what to do about it.

## Health checks

| | Classic | Network | Network, \`externalTrafficPolicy: Local\` |
|---|---|---|---|
| Protocol | TCP; SSL behind \`backend-protocol\` https or ssl | TCP | HTTP |
| Port | the first port's node port | \`traffic-port\` | \`spec.healthCheckNodePort\` |
| Path | \`/\` for HTTP and HTTPS | \`/\` for HTTP and HTTPS | \`/healthz\` |
| Interval | 10 s | 30 s | 10 s |
| Healthy, unhealthy after | 2, 6 | 3, 3 | 2, 2 |

A classic load balancer with \`externalTrafficPolicy: Local\` is checked by HTTP on \`spec.healthCheckNodePort\`, path \`/healthz\`. With
\`ClusterServiceLoadBalancerHealthProbeMode = Shared\` in the cloud config, Services with other traffic policies are checked by HTTP on
the shared port and path.

## Changing the kind

A changed \`type\` is rejected once an address is published, because the address would change. With \`type-change: replace\` the new load
balancer is created first. Its address is published when every port has a healthy target, or ${minutes(healthLimitMs)} after its creation.
The old one is then kept for ${minutes(drainMs)} (condition \`${replacedCondition}\`) and deleted.

## What is read only when a load balancer is created

\`internal\`, \`name\` and, on network load balancers, \`subnets\`, \`eip-allocations\`, \`private-ipv4-addresses\`, \`additional-resource-tags\`
and the address family: a network load balancer is dual-stack when the Service has both families, all its subnets have IPv6 blocks and
none of its ports is UDP.

Before a load balancer is created under a \`name\` of your choice, the name is recorded in the condition \`${namedCondition}\` of the
Service's status. With it the load balancer is found, and finally deleted, even when the annotation was changed or removed in the meantime.
`;
}
