/** Inputs of the steps, as an installer would write them. */

export const prefix = "demo";
export const clusterUUID = "6f1c2e4a-0b7d-4c53-9a51-3d2f1e0c9b8a";
export const sshPublicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHjE3wGDjGC1Tg0BpLx0Zz5yXK1gUoW3JnqNU8oVb0cK ops";
export const ami = "ami-0123456789abcdef0";

/** The layouts: the folder of each, and its name in the configuration. */
export const layouts = [
  { folder: "without-nat", name: "WithoutNAT", nat: false },
  { folder: "with-nat", name: "WithNAT", nat: true },
  { folder: "standard", name: "Standard", nat: true },
] as const;

export type Layout = (typeof layouts)[number];

export interface Configuration {
  readonly [key: string]: unknown;
}

/** The smallest AWSClusterConfiguration of a layout, with these changes to it. */
export function configuration({ name }: Layout, region: string, changes: Configuration = {}): Configuration {
  return {
    apiVersion: "deckhouse.io/v1",
    kind: "AWSClusterConfiguration",
    layout: name,
    sshPublicKey,
    vpcNetworkCIDR: "10.241.0.0/16",
    nodeNetworkCIDR: "10.241.32.0/20",
    provider: { providerAccessKeyId: "AKIASANDBOXSANDBOX00", providerSecretAccessKey: "sandbox", region },
    masterNodeGroup: { replicas: 3, instanceClass: { instanceType: "m5.large", ami } },
    ...changes,
  };
}

/** What every step is given. */
export function inputs(providerClusterConfiguration: Configuration, more: Configuration = {}): Configuration {
  return { clusterConfiguration: { cloud: { prefix } }, providerClusterConfiguration, clusterUUID, ...more };
}
