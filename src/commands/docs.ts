/** Writes the reference pages that come from tables: `node src/commands/docs.ts`. */
import { stringify } from "yaml";
import { catalogDefinition } from "../discovery/catalog-definition.ts";
import { targetControlConfigDefinition } from "../loadbalancers/admission/target-control-config.ts";
import { loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition } from "../loadbalancers/gateway/crd.ts";
import { listenerRuleConfigurationDefinition } from "../loadbalancers/gateway/rule-crd.ts";
import { ingressClassParamsDefinition } from "../loadbalancers/ingress/crd.ts";
import { targetGroupBindingDefinition } from "../loadbalancers/targets/crd.ts";
import { flagReference } from "../runtime/flags-usage.ts";
import { realWorld } from "../runtime/world.ts";
import { runSections as artifactsSections } from "./artifacts/flags.ts";
import { flagSections as discovererFlags } from "./cloud-data-discoverer/flags.ts";
import { globalKeys, overrideKeys } from "./controller-manager/cloud-config-keys.ts";
import { flagSections } from "./controller-manager/flags.ts";
import { annotationsPage } from "./docs-annotations.ts";
import { bindingsPage } from "./docs-bindings.ts";
import { classAnnotationsPage } from "./docs-class.ts";
import { eventsPage } from "./docs-events.ts";
import { hostPage } from "./docs-host.ts";
import { ingressAnnotationsPage } from "./docs-ingress.ts";
import { maturityPage } from "./docs-maturity.ts";
import { permissionsPage } from "./docs-permissions.ts";
import { versionsPage } from "./docs-versions.ts";
import { allSections as driverSections } from "./ebs-csi-driver/flags.ts";
import { flagSections as loadBalancerFlags } from "./load-balancer-controller/flags.ts";
import { flagSections as proxyFlags } from "./metrics-proxy/flags.ts";
import { flagSections as handlerFlags } from "./node-termination-handler/flags.ts";

const generated = "<!-- Generated from the tables in src/commands/controller-manager; run `npm run docs` after changing them. -->";

/** Every generated page by its path in the repository. */
export function pages(): Readonly<Record<string, string>> {
  return {
    "docs/reference/flags.md": flagsPage(),
    "docs/reference/node-termination-handler.md": handlerFlagsPage(),
    "docs/reference/ebs-csi-driver.md": driverFlagsPage(),
    "docs/reference/cloud-config.md": cloudConfigPage(),
    "docs/reference/cluster.md": hostPage(row),
    "docs/reference/annotations.md": annotationsPage(row),
    "docs/reference/ingress-annotations.md": ingressAnnotationsPage(row),
    "docs/reference/service-class-annotations.md": classAnnotationsPage(row),
    "docs/reference/events.md": eventsPage(row),
    "docs/reference/permissions.md": permissionsPage(row),
    "docs/maturity.md": maturityPage(row),
    "docs/versions.md": versionsPage(row),
    "docs/reference/target-group-binding.md": bindingsPage(row),
    "docs/reference/load-balancer-controller-flags.md": loadBalancerFlagsPage(),
    "docs/reference/cloud-data-discoverer.md": discovererFlagsPage(),
    "docs/reference/artifacts.md": artifactsFlagsPage(),
    "deploy/chart/files/targetgroupbindings.yaml": definitionFile("loadbalancers/targets/crd", targetGroupBindingDefinition),
    "deploy/chart/files/ingressclassparams.yaml": definitionFile("loadbalancers/ingress/crd", ingressClassParamsDefinition),
    "deploy/chart/files/loadbalancerconfigurations.yaml": definitionFile("loadbalancers/gateway/crd", loadBalancerConfigurationDefinition),
    "deploy/chart/files/targetgroupconfigurations.yaml": definitionFile("loadbalancers/gateway/crd", targetGroupConfigurationDefinition),
    "deploy/chart/files/listenerruleconfigurations.yaml": definitionFile(
      "loadbalancers/gateway/rule-crd",
      listenerRuleConfigurationDefinition,
    ),
    "deploy/chart/files/albtargetcontrolconfigs.yaml": definitionFile("loadbalancers/admission/crd", targetControlConfigDefinition),
    "deploy/chart/files/instancetypescatalogs.yaml": definitionFile("discovery/catalog-definition", catalogDefinition),
  };
}

if (import.meta.main) {
  const { files } = realWorld();
  for (const [path, page] of Object.entries(pages())) await files.write(path, page, 0o644);
}

function flagsPage(): string {
  return `# Flags of \`fairlead controller-manager\`

${generated}

The same flags are taken when the program is called \`aws-cloud-controller-manager\`. Write them as for every Kubernetes
program: \`--name=value\` or \`--name value\`; a boolean without a value is true; \`strings\` are comma-separated and a repeated flag
appends; durations are like \`1h2m3.5s\` or \`100ms\`.

${flagReference(flagSections)}`;
}

function loadBalancerFlagsPage(): string {
  return `# Flags of \`fairlead load-balancer-controller\`

<!-- Generated from src/commands/load-balancer-controller/flags.ts; run \`npm run docs\` after changing it. -->

The same flags are taken when the program is called \`aws-load-balancer-controller\`. An unknown flag or an invalid value ends the
program with status 2; anything else that prevents it from running, with status 1.

${flagReference(loadBalancerFlags)}`;
}

/** As a manifest, and as the chart has it. */
function definitionFile(source: string, definition: object): string {
  const about = `# Generated from src/${source}.ts; run \`npm run docs\` after changing it.\n`;
  return `${about}${stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

function handlerFlagsPage(): string {
  return `# Flags of \`fairlead node-termination-handler\`

<!-- Generated from the tables in src/commands/node-termination-handler; run \`npm run docs\` after changing them. -->

The same flags are taken when the program is called \`node-termination-handler\`. Each can also be set with the environment variable in
brackets; the command line takes precedence. Flags start with one dash or two; a boolean is \`--name\` or \`--name=false\`.

${flagReference(handlerFlags)}`;
}

function discovererFlagsPage(): string {
  return `# Flags of \`fairlead cloud-data-discoverer\` and its proxy

<!-- Generated from src/commands/cloud-data-discoverer/flags.ts and metrics-proxy/flags.ts; run \`npm run docs\` after changing them. -->

Each flag of the discoverer can also be set with the environment variable in brackets; the command line takes precedence. By the
environment alone are set: \`AWS_REGION\`, which is required, \`CLUSTER_UUID\`, and the credentials. Whatever is wrong ends it with status 1.
[Cloud data discovery](../cloud-data-discovery.md) describes what it does.

${flagReference(discovererFlags)}

# \`fairlead metrics-proxy\`

Takes the flags of kube-rbac-proxy that the platform gives it.

${flagReference(proxyFlags)}`;
}

function artifactsFlagsPage(): string {
  return `# Flags of \`fairlead artifacts run\`

<!-- Generated from src/commands/artifacts/flags.ts; run \`npm run docs\` after changing it. -->

[What a node manager needs of the provider](../node-manager-artifacts.md) describes what it does.

${flagReference(artifactsSections)}`;
}

function driverFlagsPage(): string {
  return `# Flags of \`fairlead ebs-csi-driver\`

<!-- Generated from src/commands/ebs-csi-driver/flags.ts; run \`npm run docs\` after changing it. -->

\`fairlead ebs-csi-driver [all | controller | node | pre-stop-hook] [flags]\`; the same when the program is called
\`aws-ebs-csi-driver\`. Mode \`controller\` does not have the flags of the node, mode \`node\` not those of AWS and the controller;
only mode \`controller\` has built-in roles. [Volumes](../volumes.md) describes what the driver does.

${flagReference(driverSections)}`;
}

function cloudConfigPage(): string {
  const globalRows = Object.entries(globalKeys).map(([name, { type, shown, help }]) => row([`\`${name}\``, type, shown, help]));
  const overrideRows = Object.entries(overrideKeys).map(([name, { required, help }]) =>
    row([`\`${name}\``, required ? "yes" : "no", help]),
  );
  return `# The AWS cloud config file

${generated}

Given with \`--cloud-config\`. Without a file everything is discovered. The file is read once, at the start.

\`\`\`ini
[Global]
Region = us-east-1
KubernetesClusterID = prod
; a list: repeat the key, or separate with commas
NodeIPFamilies = ipv6
NodeIPFamilies = ipv4

[ServiceOverride "ec2"]
Service = EC2
Region = us-east-1
URL = https://vpce-0123.ec2.us-east-1.vpce.amazonaws.com
SigningRegion = us-east-1
\`\`\`

The syntax is that of git's config files, UTF-8 without a byte order mark. Section and key names are case-insensitive. \`;\` and
\`#\` start a comment. Double quotes may wrap all or part of a value; inside them \`\\\\\`, \`\\"\`, \`\\n\` and \`\\t\` are escapes. A backslash
at the end of a line continues it. A key without \`=\` is true for booleans. Booleans are \`true\`, \`yes\`, \`on\`, \`1\` and \`false\`, \`no\`,
\`off\`, \`0\`. When a key that is not a list is repeated, the last one counts.

A file with a syntax error or an invalid value ends the process with a message that names line, column, key and value. Unknown sections
and keys cause a warning that names the nearest known one; \`--strict-cloud-config\` rejects them.

## \`[Global]\`

| Key | Type | Default | Meaning |
|---|---|---|---|
${globalRows.join("\n")}

## \`[ServiceOverride "<id>"]\`

The endpoint of one AWS service. Repeat the section, with another id, for each service and region.

| Key | Required | Meaning |
|---|---|---|
${overrideRows.join("\n")}
`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
