/** The reference page of Ingress annotations, from the tables that parse them. */
import {
  annotationPrefix,
  authTable,
  backendTable,
  familyTable,
  type IngressRow,
  ingressTable,
  type Merge,
} from "../loadbalancers/ingress/annotations.ts";
import { frontendTable } from "../loadbalancers/ingress/frontend-annotations.ts";

/** How the values of several Ingresses of a group come together, in the words of the page. */
const together: Readonly<Record<Merge, string>> = {
  agree: "all that set it must agree",
  "per-port": "all that set it for a port must agree",
  "per-key": "all that set a key must agree",
  union: "combined",
  own: "each for its own rules",
  group: "defines the group",
};

export function ingressAnnotationsPage(row: (cells: readonly string[]) => string): string {
  const table = (rows: Readonly<Record<string, IngressRow>>, suffix = "") => {
    const lines = Object.entries(rows).map(([name, { merge, onService, takes, unset, meaning }]) =>
      row([`\`${name}${suffix}\`${onService ? "¹" : ""}`, together[merge], takes, unset, meaning]),
    );
    return ["| Annotation | In a group | Takes | Without it | Meaning |", "|---|---|---|---|---|", ...lines].join("\n");
  };
  return `# Annotations of an Ingress

<!-- Generated from the tables in src/loadbalancers/ingress/annotations.ts; run \`npm run docs\` after changing them. -->

How Ingresses are served is told in [the guide](../ingress.md). Every key below is written with the prefix
\`${annotationPrefix}\`, for example \`${annotationPrefix}scheme: internet-facing\`.

Ingresses of one group share a load balancer. Where they must agree, the first Ingress that sets a value decides. One that sets another value
gets an Event \`FailedBuildModel\` and keeps its current rules until they agree.

¹ Also read from the Service that a rule forwards to; the Service's value takes precedence.

## Load balancer and listeners

${table(ingressTable)}

## A network load balancer in front

${table(frontendTable)}

## Target groups

${table(backendTable)}

## Log-ins

${table(authTable)}

## Routing, and keys that end in a name of your choice

${table(familyTable, "<name>")}

Keys in JSON values are case-insensitive. Write numbers without quotes and texts with quotes; only \`servicePort\` takes both.

\`create-acm-cert\` and \`acm-pca-arn\` need the gate \`EnableCertificateManagement\`. An Event \`LoadBalancerWarning\` says so where it is off, and also names keys that look like a typo.
`;
}
