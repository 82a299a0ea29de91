/** Objections that more than one scene has. */
import { type NodeView, type Picture, shortName } from "../view/picture.ts";
import type { Objection } from "./scene.ts";

/** Every Node there is. */
export function nodesIn(picture: Picture): readonly NodeView[] {
  return picture.nodes.flatMap(({ node }) => (node === undefined ? [] : [node]));
}

/** The Node of a machine. */
export function nodeOf(picture: Picture, instanceId: string): NodeView | undefined {
  return picture.nodes.find((row) => row.instanceId === instanceId)?.node;
}

/** Objects as long as one of them does not pass, and names those. */
export function everyNode(nodes: readonly NodeView[], passes: (node: NodeView) => boolean): Objection {
  const failing = nodes.filter((node) => !passes(node));
  return failing.length === 0 ? undefined : `not so for ${failing.map(({ name }) => shortName(name)).join(", ")}`;
}

/** Objects while any Node waits for the cloud's part. */
export function allInitialised(picture: Picture): Objection {
  return everyNode(nodesIn(picture), ({ taints }) => !taints.includes("uninitialized"));
}

/** Objects when one of these Nodes is gone or replaced. */
export function allKept(kept: readonly NodeView[]): (picture: Picture) => Objection {
  return (picture) => {
    const uids = new Set(nodesIn(picture).map(({ uid }) => uid));
    const lost = kept.filter(({ uid }) => !uids.has(uid));
    return lost.length === 0 ? undefined : `${lost.map(({ name }) => shortName(name)).join(", ")} is gone`;
  };
}

/** Objects unless exactly one replica leads and the rest stand by. */
export function oneLeads({ replicas }: Picture): Objection {
  const states = replicas.map(({ state }) => state).sort();
  return states.join() === "leading,standing by" ? undefined : `they are ${states.join(" and ")}`;
}

/** Objects unless the pods of every Node have a route to its machine, and nothing else has one. */
export function routesFollowNodes(picture: Picture): Objection {
  const unranged = nodesIn(picture).filter(({ podCidr }) => podCidr === undefined);
  if (unranged.length > 0) return `${unranged.map(({ name }) => shortName(name)).join(", ")} has no range for pods yet`;
  const wanted = picture.nodes.flatMap(({ node, instanceId }) => (node?.podCidr ? [`${node.podCidr} to ${instanceId}`] : []));
  const there = picture.routes.map(({ destination, instanceId }) => `${destination} to ${instanceId}`);
  const missing = wanted.filter((route) => !there.includes(route));
  const extra = there.filter((route) => !wanted.includes(route));
  if (missing.length > 0) return `there is no route ${missing.join(", ")}`;
  return extra.length > 0 ? `there is still a route ${extra.join(", ")}` : undefined;
}
