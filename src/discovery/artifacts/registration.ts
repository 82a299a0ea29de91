/** How the provider tells a node manager of itself: two Secrets with the same data, one with templates, two with scripts for nodes. */
import { bootstrapNetworks } from "./bashible/bootstrap.ts";
import { bashibleSteps } from "./bashible/steps.ts";
import type { ArtifactsInput } from "./input.ts";
import { machineTemplates } from "./templates.ts";

const own = { heritage: "deckhouse", module: "cloud-provider-aws" };
const provider = { "cloud-provider.deckhouse.io/name": "aws" };

/** Both names: the fixed one that most readers use, and that of this provider. */
export function registrationSecrets(input: ArtifactsInput): readonly object[] {
  const data = encoded(registrationData(input));
  const labels = { ...own, "cloud-provider.deckhouse.io/registration": "", ...provider };
  return ["d8-node-manager-cloud-provider", "d8-node-manager-cloud-provider-aws"].map((name) => secret(name, labels, data));
}

/** The templates that readers fetch from the cluster. */
export function templateSecret(): object {
  const labels = { ...own, ...provider, "cloud-provider.deckhouse.io/ephemeral-nodes-templates": "mcm" };
  return secret("d8-cloud-provider-aws-mcm", labels, encoded(machineTemplates));
}

/** The mark of scripts that are Fairlead's: those of the platform's own module have the same names and labels, and stay as they are. */
export const scriptsAnnotation = "artifacts.fairlead.io/scripts";

/** The scripts that the platform's bashible runs on nodes of this provider. */
export function bashibleSecrets({ bashible: { enabled, credentialProvider } }: ArtifactsInput): readonly object[] {
  if (!enabled) return [];
  const parts = { steps: bashibleSteps(credentialProvider), bootstrap: { "bootstrap-networks.sh.tpl": bootstrapNetworks } };
  return Object.entries(parts).map(([part, texts]) => {
    const labels = { ...own, ...provider, "cloud-provider.deckhouse.io/bashible": part };
    return secret(`d8-cloud-provider-aws-bashible-${part}`, labels, encoded(texts), { [scriptsAnnotation]: "fairlead" });
  });
}

/** Readers take each key for JSON, and what is none for text. */
export function registrationData({ clusterConfiguration, discoveryData }: ArtifactsInput): Readonly<Record<string, string>> {
  const { provider: account, tags } = clusterConfiguration;
  const { instances, keyName, loadBalancerSecurityGroup, zones, zoneToSubnetIdMap } = discoveryData;
  const aws = {
    instances,
    internal: { zoneToSubnetIdMap },
    keyName,
    loadBalancerSecurityGroup,
    providerAccessKeyId: account.providerAccessKeyId,
    providerSecretAccessKey: account.providerSecretAccessKey,
    region: account.region,
    tags,
  };
  return {
    type: "aws",
    region: account.region,
    zones: JSON.stringify(zones),
    // The storage version of the definition: readers hash what they read.
    instanceClassAPIVersion: "v1",
    instanceClassKind: "AWSInstanceClass",
    machineClassKind: "AWSMachineClass",
    aws: JSON.stringify(sorted(aws)),
  };
}

/** The same value with keys in lexical order, all the way down. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

/** Texts as the data of a Secret. */
export function encoded(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
}

/** A Secret of kube-system. */
export function secret(
  name: string,
  labels: Readonly<Record<string, string>>,
  data: Readonly<Record<string, string>>,
  annotations?: Readonly<Record<string, string>>,
): object {
  const metadata = { name, namespace: "kube-system", labels, ...(annotations && { annotations }) };
  return { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data };
}
