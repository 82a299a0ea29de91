/** A file that the tests of artifacts start from. */
import { stringify } from "yaml";
import { type ArtifactsInput, readArtifactsInput } from "./input.ts";

export const exampleFile = {
  clusterUUID: "aaaa-bbbb",
  clusterConfiguration: {
    apiVersion: "deckhouse.io/v1",
    kind: "AWSClusterConfiguration",
    layout: "WithoutNAT",
    sshPublicKey: "ssh-ed25519 AAAA ops",
    vpcNetworkCIDR: "10.10.0.0/16",
    provider: { providerAccessKeyId: "AKIAIOSFODNN7EXAMPLE", providerSecretAccessKey: "of-no-worth", region: "eu-central-1" },
    masterNodeGroup: { replicas: 1, instanceClass: { instanceType: "m5.xlarge", ami: "ami-default" } },
    tags: { env: "prod" },
  },
  discoveryData: {
    apiVersion: "deckhouse.io/v1",
    kind: "AWSCloudDiscoveryData",
    keyName: "demo",
    instances: { ami: "ami-default", additionalSecurityGroups: ["sg-base"], associatePublicIPAddress: true, iamProfileName: "demo-node" },
    loadBalancerSecurityGroup: "sg-0d",
    zones: ["eu-central-1a"],
    zoneToSubnetIdMap: { "eu-central-1a": "subnet-aaa" },
  },
};

/** The example, with some of it changed. */
export function exampleInput(change: object = {}): ArtifactsInput {
  return readArtifactsInput(stringify({ ...exampleFile, ...change }));
}
