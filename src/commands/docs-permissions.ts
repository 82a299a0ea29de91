/** The page of AWS permissions, from the table that the policies are generated from. */
import { actionsOfGrant, type Feature, permissions } from "../doctor/permissions.ts";

const titles: Readonly<Record<Feature, string>> = {
  nodes: "Nodes: initialisation, addresses, labels, lifecycle",
  tagging: "Tagging of instances",
  routes: "Routes of pod CIDRs",
  "load-balancers": "Load balancers of Services",
  "target-group-bindings": "Target groups of TargetGroupBindings (the load balancer controller)",
  ingresses: "Application load balancers of Ingresses (the load balancer controller; beside the policy of bindings)",
  "ingress-certificates":
    "Certificates that are requested for Ingresses (the load balancer controller, with the gate EnableCertificateManagement)",
  "tag-index": "Tags of everything in one call (the load balancer controller, with the gate EnableRGTAPI)",
  "class-services": "Network load balancers of Services with a class (the load balancer controller; beside the policy of bindings)",
  volumes: "EBS CSI driver (the role of its controller)",
  discovery: "Cloud data discoverer",
  "machine-controller":
    "A machine controller that makes machines from our [templates](../node-manager-artifacts.md) (not a program of Fairlead)",
  "layouts-base": "Whoever runs the step base-infrastructure of a [layout](../layouts.md)",
  "layouts-nodes": "Whoever runs the steps master-node and static-node of a layout",
  interruptions: "Interruptions: the termination handler in queue mode",
  "interruptions-setup": "`fairlead interruptions setup` (the role of a person, not of the handler)",
  registry: "ECR credential provider (the role of the nodes, not of the controllers)",
  "assume-role": "Acting as another role",
  dashboard: "For people who look at `fairlead dashboard`",
  doctor: "The doctor",
};

/** The page; `row` makes a line of a table. */
export function permissionsPage(row: (cells: readonly string[]) => string): string {
  const sections = (Object.keys(permissions) as Feature[]).map((feature) => {
    const rows = permissions[feature].map((grant) => {
      const also = new Set(grant.also);
      const actions = actionsOfGrant(grant).map((action) => `\`${action}\`${also.has(action) ? "¹" : ""}`);
      return row([
        actions.join("<br>"),
        grant.why,
        grant.resources.map((resource) => `\`${resource}\``).join("<br>"),
        grant.optional ?? "required",
      ]);
    });
    return [
      `## ${titles[feature]}`,
      "",
      `Policies: [\`${feature}.json\`](../../deploy/iam/${feature}.json), [strict](../../deploy/iam/strict/${feature}.json)`,
      "",
      "| Actions | Why | Resources | If it is missing |",
      "|---|---|---|---|",
      ...rows,
      "",
    ].join("\n");
  });
  return `# AWS permissions

<!-- Generated from src/doctor/permissions.ts; run \`npm run docs\` after changing it. -->

One policy per feature, in \`deploy/iam/\`. Attach the default ones without changes. The strict ones add conditions on the cluster's tag, the
region and the VPC: replace \`CLUSTER_ID\`, \`REGION\`, \`ACCOUNT_ID\`, \`VPC_ID\` and \`ROLE_ARN\` with your values. Every security group of nodes,
every route table, every instance and everything that another controller made must then carry the tag
\`kubernetes.io/cluster/<cluster id>\`. All of them are valid in every partition (China, GovCloud, the isolated ones, the European Sovereign Cloud).

The tests run the controllers under exactly these policies: each action is used, and without any one of them a message names the missing one.
The machine controller and the layouts, which are run by programs of others, run under theirs too; what the real AWS provider asks for and the
stand-in of the tests does not is taken from its documentation.

¹ Checked by AWS without a call of Fairlead's own.

${sections.join("\n")}`;
}
