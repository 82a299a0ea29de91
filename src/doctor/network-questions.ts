/** What of AWS's network nobody but the doctor asks. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import { describeInstances, describeSubnets } from "../aws/ec2-actions.ts";
import type { RouteTable } from "../aws/route-tables.ts";
import { claimedInstance, type NodeView } from "../identity/node-view.ts";
import type { MetadataFacts, SubnetFacts } from "./picture.ts";

/** The subnets of the VPC, with their free addresses and whether they are public. */
export async function subnetsOf(cloud: Cloud, vpc: string, tables: readonly RouteTable[], ask: Ask): Promise<readonly SubnetFacts[]> {
  const found: SubnetFacts[] = [];
  for (let NextToken: string | undefined; ; ) {
    const answer = await cloud.call(describeSubnets, { Filters: [{ Name: "vpc-id", Values: [vpc] }], MaxResults: 1000, NextToken }, ask);
    for (const subnet of answer.Subnets ?? []) {
      const id = subnet.SubnetId ?? "";
      found.push({
        id,
        zone: subnet.AvailabilityZone ?? "",
        freeAddresses: subnet.AvailableIpAddressCount ?? 0,
        tags: Object.fromEntries((subnet.Tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value])),
        public: isPublic(id, tables),
      });
    }
    NextToken = answer.NextToken;
    if (!NextToken) return found;
  }
}

function isPublic(subnet: string, tables: readonly RouteTable[]): boolean {
  const table = tables.find(({ subnets }) => subnets.includes(subnet)) ?? tables.find(({ main }) => main);
  return table?.routes.some(({ otherTarget }) => otherTarget?.startsWith("igw-")) ?? false;
}

const controlPlaneLabel = "node-role.kubernetes.io/control-plane";
const maxAsked = 100;

/** How the metadata service of the machines that the controllers run on is set up: control-plane Nodes, or all when there are none. */
export async function metadataOf(cloud: Cloud, nodes: readonly NodeView[], ask: Ask): Promise<readonly MetadataFacts[]> {
  const controlPlane = nodes.filter(({ metadata }) => controlPlaneLabel in metadata.labels);
  const ids = (controlPlane.length > 0 ? controlPlane : nodes).flatMap((node) => claimedInstance(node) ?? []).slice(0, maxAsked);
  if (ids.length === 0) return [];
  // By filter, because one id that AWS does not know would fail them all.
  const { Reservations = [] } = await cloud.call(describeInstances, { Filters: [{ Name: "instance-id", Values: ids }] }, ask);
  return Reservations.flatMap(({ Instances = [] }) => Instances).map(({ InstanceId = "", MetadataOptions: options }) => ({
    instanceId: InstanceId,
    hopLimit: options?.HttpPutResponseHopLimit ?? 1,
    enabled: options?.HttpEndpoint !== "disabled",
  }));
}
