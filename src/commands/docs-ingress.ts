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

/** How the values of several Ingresses of a group come together, in the words of the page. */
const together: Readonly<Record<Merge, string>> = {
  agree: "all that say something say the same",
  "per-port": "the same for each port",
  "per-key": "the same for each key",
  union: "taken together",
  own: "each for itself",
  group: "makes the group",
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

Ingresses are served [behind a gate](../load-balancer-controller.md#ingresses-behind-a-gate). Every key below is written with the prefix
\`${annotationPrefix}\`, for example \`${annotationPrefix}scheme: internet-facing\`.

Ingresses of one group share a load balancer. Where all of them have to say the same, the first one that says something decides; one that
says something else is told so by an Event \`FailedBuildModel\`, and keeps the rules that it has until they agree.

¹ Also read from the Service that a rule leads to, whose value goes before the Ingress's.

## Load balancer and listeners

${table(ingressTable)}

## Target groups

${table(backendTable)}

## Log-ins

${table(authTable)}

## Routing, and keys that end in a name of yours

${table(familyTable, "<name>")}

The keys of JSON values count in any case. A number is written without quotes and a text with them; only \`servicePort\` takes both.

\`create-acm-cert\`, \`acm-pca-arn\` and everything that begins with \`frontend-nlb-\` have no effect yet; an Event \`LoadBalancerWarning\`
says so, as of keys that look like a typo.
`;
}
