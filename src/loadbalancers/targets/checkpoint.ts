/**
 * What was brought about last, in short: as long as endpoints and spec give the same text, nothing has to be asked of AWS.
 * Byte for byte as the reference writes it, so that a take-over finds everything as it should be.
 */
import { createHash } from "node:crypto";
import type { Frozen } from "../../kube/resource.ts";
import type { BindingSpec } from "./binding.ts";
import type { Endpoint } from "./endpoints.ts";

export function checkpointOf(endpoints: readonly Endpoint[], spec: Frozen<BindingSpec>): string {
  const identities = endpoints.map((endpoint) => `${identityOf(endpoint)}:${endpoint.createdAt}`);
  return `${digest(identities.toSorted(bytewise).join(","))}/${digest(specText(spec))}`;
}

/** `10.0.1.15:8080`, and the server id where QUIC needs one. */
export function identityOf({ id, port, quicServerId }: Pick<Endpoint, "id" | "port" | "quicServerId">): string {
  return quicServerId === undefined ? `${id}:${port}` : `${id}:${port}:${quicServerId}`;
}

const digest = (text: string) => createHash("sha256").update(text).digest("base64url");

const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The spec as Go's encoder writes it: fields in their order, empty ones left out. */
export function specText(spec: Frozen<BindingSpec>): string {
  const { networking, nodeSelector } = spec;
  const ordered = {
    targetGroupARN: spec.targetGroupARN ?? "",
    ...some("targetGroupName", spec.targetGroupName),
    ...some("multiClusterTargetGroup", spec.multiClusterTargetGroup),
    ...some("targetType", spec.targetType),
    ...some("targetGroupProtocol", spec.targetGroupProtocol),
    serviceRef: { name: spec.serviceRef.name, port: spec.serviceRef.port },
    ...(networking && { networking: { ...(networking.ingress?.length && { ingress: networking.ingress.map(ruleInOrder) }) } }),
    ...(nodeSelector && { nodeSelector: selectorInOrder(nodeSelector) }),
    ...some("ipAddressType", spec.ipAddressType),
    ...some("vpcID", spec.vpcID),
    ...some("iamRoleArnToAssume", spec.iamRoleArnToAssume),
    ...some("assumeRoleExternalId", spec.assumeRoleExternalId),
  };
  const { targetGroupARN, ...rest } = ordered;
  const text = JSON.stringify(targetGroupARN === "" ? rest : ordered);
  return text.replaceAll("<", "\\u003c").replaceAll(">", "\\u003e").replaceAll("&", "\\u0026");
}

type Networking = NonNullable<NonNullable<BindingSpec["networking"]>["ingress"]>[number];

function ruleInOrder({ from, ports }: Frozen<Networking>): object {
  return {
    from: from.map(({ ipBlock, securityGroup }) => ({
      ...(ipBlock && { ipBlock: { cidr: ipBlock.cidr } }),
      ...(securityGroup && { securityGroup: { groupID: securityGroup.groupID } }),
    })),
    ports: ports.map(({ protocol, port }) => ({ ...some("protocol", protocol), ...(port !== undefined && { port }) })),
  };
}

function selectorInOrder({ matchLabels, matchExpressions }: Frozen<NonNullable<BindingSpec["nodeSelector"]>>): object {
  const labels = Object.entries(matchLabels ?? {}).toSorted(([a], [b]) => bytewise(a, b));
  return {
    ...(labels.length > 0 && { matchLabels: Object.fromEntries(labels) }),
    ...(matchExpressions?.length && {
      matchExpressions: matchExpressions.map(({ key, operator, values }) => ({ key, operator, ...(values?.length && { values }) })),
    }),
  };
}

/** The field, unless it is empty. */
function some(key: string, value: string | boolean | undefined): object {
  return value ? { [key]: value } : {};
}
