/** What initialisation makes of a Node. Pure: the Node and its machine in, patches out. */
import { cloudCondition, conditionOf, type SeenNode } from "../identity/node-view.ts";
import { addressChange, desiredAddresses, type NodeAddress } from "./addresses.ts";
import { conditionChange, type NodeProblem } from "./condition.ts";
import { additionalLabels, type Labels, placeLabels } from "./labels.ts";
import { type Machine, providerIdFor, typeOf, zoneOf } from "./machine.ts";
import { withoutUninitialized } from "./taints.ts";

export interface Initialisation {
  readonly machine: Machine;
  readonly region: string;
  readonly extra: Labels;
}

/** The one merge patch that gives a Node its provider ID and labels and takes the taint away, if it is still in this state. */
export function initialisationPatch(node: SeenNode, { machine, region, extra }: Initialisation): object {
  const { resourceVersion, labels } = node.metadata;
  const zone = zoneOf(machine);
  const place = placeLabels({ instanceType: typeOf(machine), region, ...(zone && { zone }) });
  const providerID = node.providerId === "" ? providerIdFor(machine) : undefined;
  return {
    metadata: { resourceVersion, labels: { ...additionalLabels(labels, extra).add, ...place } },
    spec: { ...(providerID && { providerID }), ...withoutUninitialized(node) },
  };
}

/** The conditional merge patch that adds labels the Node lacks; undefined when it has them all. */
export function extraLabelsPatch(node: SeenNode, extra: Labels): object | undefined {
  const { add } = additionalLabels(node.metadata.labels, extra);
  if (Object.keys(add).length === 0) return undefined;
  return { metadata: { resourceVersion: node.metadata.resourceVersion, labels: add } };
}

/** The addresses the Node must show. Throws `ProvidedNodeIpInvalid` when they cannot be what kubelet asks for. */
export function addressesFor(node: SeenNode, cloud: readonly NodeAddress[]): readonly NodeAddress[] {
  return cloud.length === 0 && node.providedNodeIp === undefined ? [] : desiredAddresses(cloud, node.addresses, node.providedNodeIp);
}

/** The strategic merge of `status` that gives a Node these addresses and this condition; undefined when it has both. */
export function statusChange(
  node: SeenNode,
  wanted: { readonly addresses?: readonly NodeAddress[]; readonly problem: NodeProblem | undefined },
  nowMs: number,
): object | undefined {
  const addresses = wanted.addresses && addressChange(node.addresses, wanted.addresses);
  const condition = conditionChange(conditionOf(node, cloudCondition), wanted.problem, nowMs);
  if (addresses === undefined && condition === undefined) return undefined;
  return { ...(addresses && { addresses }), ...(condition && { conditions: [condition] }) };
}
