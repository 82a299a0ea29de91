/** The reference page of annotations of Services with a load balancer class, from the tables that parse them. */
import type { ParsingRow } from "../loadbalancers/annotation-rows.ts";
import {
  annotationPrefix,
  familyTable,
  listenerTable,
  loadBalancerTable,
  targetGroupTable,
} from "../loadbalancers/service-class/annotations.ts";

export function classAnnotationsPage(row: (cells: readonly string[]) => string): string {
  const table = (rows: Readonly<Record<string, ParsingRow>>, suffix = "") => {
    const lines = Object.entries(rows).map(([name, { takes, unset, meaning }]) => row([`\`${name}${suffix}\``, takes, unset, meaning]));
    return ["| Annotation | Takes | Without it | Meaning |", "|---|---|---|---|", ...lines].join("\n");
  };
  return `# Annotations of a Service with a load balancer class

<!-- Generated from the tables in src/loadbalancers/service-class/annotations.ts; run \`npm run docs\` after changing them. -->

Of Services that [the load balancer controller serves](../load-balancer-controller.md#services-with-a-load-balancer-class); those of the
controller manager have [annotations of their own](annotations.md). Every key below is written with the prefix \`${annotationPrefix}\`, for
example \`${annotationPrefix}aws-load-balancer-scheme: internet-facing\`.

Only what is used has to be right: a value that cannot be used gives an Event \`FailedBuildModel\`, and everything stays as it is. An
annotation that is misspelt, or has no effect on this load balancer, gives an Event \`LoadBalancerWarning\` that says why.

## Load balancer

${table(loadBalancerTable)}

## Listeners

${table(listenerTable)}

## Target groups

${table(targetGroupTable)}

¹ With targets of type instance and \`externalTrafficPolicy: Local\`.

## Keys that end in a port

${table(familyTable, "<port>")}

\`\`\`yaml
${annotationPrefix}actions.TCP-80: |
  {"type": "forward", "forwardConfig": {"baseServiceWeight": 9,
    "targetGroups": [{"serviceName": "canary", "servicePort": 80, "weight": 1}]}}
\`\`\`

The Service's own endpoints come first, with \`baseServiceWeight\`; each further entry has either \`serviceName\` and \`servicePort\`, of the same
namespace, or \`targetGroupARN\`. With \`decrypt\` a Service behind a TLS listener gets plain TCP.
`;
}
