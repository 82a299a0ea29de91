/** One look at EC2 for all Nodes that are not ready: a few joined calls answer whether each machine exists and how it is. */

import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { Instance } from "../aws/instance.ts";
import type { InstanceLookup } from "../aws/instances.ts";
import { regionOfZone } from "../aws/regions.ts";
import type { EventReason } from "../identity/event-reasons.ts";
import { claimOf, type SeenNode } from "../identity/node-view.ts";
import { clusterTagFilter, hasClusterTag } from "../identity/ownership.ts";
import type { Self } from "../identity/self.ts";
import { forEachConcurrently } from "../runtime/for-each-concurrently.ts";
import type { Clock } from "../runtime/world.ts";
import type { Sighting } from "./gone.ts";

/** What is seen of a Node's machine. */
export type Seen =
  | { readonly kind: "instance"; readonly instanceId: string; readonly sighting: Sighting }
  /** Nothing will be done about it; `reason` and `message` say why, for an Event. */
  | { readonly kind: "left-alone"; readonly reason: EventReason; readonly message: string }
  | { readonly kind: "failed"; readonly error: unknown };

export interface Looking {
  readonly cloud: Pick<Cloud, "instances" | "networkInterfaces" | "region">;
  readonly self: Self;
  readonly clock: Clock;
  readonly concurrency: number;
}

/** Looks at the machines of these Nodes. `ageOf` tells how old an answer about one of them may be. */
export async function lookAt(
  looking: Looking,
  nodes: readonly SeenNode[],
  ask: Ask,
  ageOf: (node: SeenNode) => number,
): Promise<ReadonlyMap<SeenNode, Seen>> {
  const looks = new Map<SeenNode, Look>();
  await forEachConcurrently(looking.clock, nodes, looking.concurrency, async (node) => {
    // A signal for each: one with a thousand waiters is slow to join and leave.
    looks.set(node, await lookAtOne(looking, node, { ...ask, signal: AbortSignal.any([ask.signal]), maxAgeMs: ageOf(node) }));
  });
  const witness = await findWitness(looking, [...looks.values()], ask);
  return new Map([...looks].map(([node, look]) => [node, look.kind === "looked-up" ? seenOf(looking, look, witness) : look]));
}

type Look = Seen | LookedUp;

interface LookedUp {
  readonly kind: "looked-up";
  readonly instanceId: string;
  readonly zone: string | undefined;
  readonly lookup: InstanceLookup;
}

async function lookAtOne({ cloud, self }: Looking, node: SeenNode, ask: Ask): Promise<Look> {
  const claim = claimOf(node);
  try {
    switch (claim.kind) {
      case "foreign":
        return leftAlone("ForeignProviderID", `provider ID ${node.providerId} belongs to another cloud (${claim.scheme}): not touched`);
      case "invalid":
        return leftAlone("InvalidProviderID", `${claim.reason}: the state of its machine cannot be determined, so the Node is kept`);
      case "instance":
        return { ...claim, kind: "looked-up", lookup: await cloud.instances.lookup(claim.instanceId, ask) };
      case "fargate": {
        const found = self.vpc ? await cloud.networkInterfaces.attachedWith(claim.address, self.vpc, ask) : [];
        if (found.length > 0) return { kind: "instance", instanceId: claim.address, sighting: { kind: "alive", state: "running" } };
        return leftAlone(
          "InterfaceNotFound",
          `no attached network interface has the address ${claim.address}: that proves nothing, so the Node is kept`,
        );
      }
      case "none":
        return seenByName(await cloud.instances.lookupBy("private-dns-name", node.metadata.name, ask), self, node);
    }
  } catch (error) {
    ask.signal.throwIfAborted();
    return { kind: "failed", error };
  }
}

/** Without a provider ID a name that finds nothing proves nothing: it may never have been a name EC2 knows. */
function seenByName(found: readonly Instance[], self: Self, node: SeenNode): Seen {
  const ours = found.filter(({ tags }) => hasClusterTag(tags, self.cluster));
  const [only] = ours;
  if (only === undefined) {
    return leftAlone(
      "NoMatchingInstance",
      `it has no provider ID, and no instance of the cluster has the private DNS name ${node.metadata.name}: that proves nothing, so the Node is kept`,
    );
  }
  if (ours.length > 1) {
    return leftAlone(
      "SeveralMatchingInstances",
      `multiple instances found for name: ${node.metadata.name}: ${ours.map(({ id }) => id).join(", ")}`,
    );
  }
  return { kind: "instance", instanceId: only.id, sighting: sightingOf(only) };
}

function leftAlone(reason: EventReason, message: string): Seen {
  return { kind: "left-alone", reason, message };
}

function seenOf({ cloud, self }: Looking, { instanceId, zone, lookup }: LookedUp, witness: Witness): Seen {
  const seen = (sighting: Sighting): Seen => ({ kind: "instance", instanceId, sighting });
  switch (lookup.kind) {
    case "found": {
      const { vpc, state } = lookup.instance;
      if (self.vpc && vpc && vpc !== self.vpc && state !== "terminated") {
        return leftAlone("InstanceOfOtherVPC", `${instanceId} is an instance of ${vpc}, but the cluster's VPC is ${self.vpc}: not touched`);
      }
      return seen(sightingOf(lookup.instance));
    }
    case "malformed":
      return leftAlone(
        "InvalidProviderID",
        `${instanceId} is not an instance id: the state of its machine cannot be determined, so the Node is kept`,
      );
    case "absent":
      return seen({ kind: "unanswered" });
    case "not-found":
      if (witness.kind === "failed") return { kind: "failed", error: witness.error };
      // A list that knows it speaks louder than a refusal that does not.
      if (witness.ids.has(instanceId)) return seen({ kind: "alive", state: "running" });
      return seen({
        kind: "named-missing",
        zoneInRegion: zone !== undefined && isZoneOf(zone, cloud.region),
        witness: witness.ids.size > 0,
      });
  }
}

function sightingOf({ state }: Instance): Sighting {
  if (state === undefined) return { kind: "unanswered" };
  return state === "terminated" ? { kind: "terminated" } : { kind: "alive", state };
}

function isZoneOf(zone: string, region: string): boolean {
  try {
    return regionOfZone(zone) === region;
  } catch {
    return false;
  }
}

/**
 * Live instances of the cluster, by its tag and in its VPC, seen with these credentials in this very look. The VPC, because
 * another account may well have a cluster of the same name.
 */
type Witness = { readonly kind: "seen"; readonly ids: ReadonlySet<string> } | { readonly kind: "failed"; readonly error: unknown };

const live = ["pending", "running"];

async function findWitness({ cloud, self }: Looking, looks: readonly Look[], ask: Ask): Promise<Witness> {
  const lookups = looks.flatMap((look) => (look.kind === "looked-up" ? [look.lookup] : []));
  const none: Witness = { kind: "seen", ids: new Set() };
  if (!lookups.some(({ kind }) => kind === "not-found")) return none;
  const found = lookups.flatMap((lookup) => (lookup.kind === "found" ? [lookup.instance] : []));
  const seen = found.filter(
    ({ state, tags, vpc }) => live.includes(state ?? "") && hasClusterTag(tags, self.cluster) && (!self.vpc || vpc === self.vpc),
  );
  if (seen.length > 0) return { kind: "seen", ids: new Set(seen.map(({ id }) => id)) };
  const filters = [
    clusterTagFilter(self.cluster),
    { name: "instance-state-name", values: live },
    ...(self.vpc ? [{ name: "vpc-id", values: [self.vpc] }] : []),
  ];
  try {
    // One is enough, and a page of five is the smallest there is; but a page may be empty and not the last.
    for await (const page of cloud.instances.pages(filters, ask, 5)) {
      if (page.length > 0) return { kind: "seen", ids: new Set(page.map(({ id }) => id)) };
    }
    return none;
  } catch (error) {
    ask.signal.throwIfAborted();
    return { kind: "failed", error };
  }
}
