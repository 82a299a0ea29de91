/**
 * Which machine a Node runs on: an ordered chain, the first step that has an answer decides.
 *
 *     provider ID → name that is an instance id → our own name → private DNS name → address → Name tag (if asked for)
 *
 * A kubelet can claim any name and any address. So beyond the first two steps only a pending or running instance of this
 * VPC counts, that carries the cluster's tag and is claimed by no other Node. Two of them are an error, not a choice.
 */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { Instance } from "../aws/instance.ts";
import type { LookupFilter } from "../aws/instances.ts";
import { type Claim, claimedAddresses, claimOf, type Nodes, type SeenNode } from "../identity/node-view.ts";
import { hasClusterTag } from "../identity/ownership.ts";
import type { Self } from "../identity/self.ts";
import { type Machine, providerIdFor } from "./machine.ts";

export type Identification =
  | { readonly kind: "identified"; readonly machine: Machine; readonly by: Step }
  | { readonly kind: "unidentified"; readonly reason: Unidentified; readonly message: string };

/** The step of the chain that told. */
export type Step = "provider ID" | "node name" | "own name" | "private DNS name" | "address" | "Name tag";

/** Why it is not known what a Node runs on, as Events and conditions call it. */
export type Unidentified =
  | "ForeignProviderID"
  | "InvalidProviderID"
  | "InstanceNotFound"
  | "InstanceNotDescribed"
  | "InstanceOfOtherVPC"
  | "InstanceClaimedTwice"
  | "InstanceWithoutZone"
  | "NoMatchingInstance"
  | "SeveralMatchingInstances"
  | "InterfaceNotFound";

export interface IdentityOptions {
  readonly cloud: Pick<Cloud, "instances" | "networkInterfaces" | "region">;
  readonly self: Self;
  readonly nodes: Pick<Nodes, "get" | "by">;
  /** Whether an instance whose Name tag equals the Node's name will do when nothing else does. */
  readonly byNameTag: boolean;
}

export class Identities {
  readonly #options: IdentityOptions;
  /** Instances just given to a Node that does not show its provider ID yet: by instance id. */
  readonly #given = new Map<string, { readonly name: string; readonly uid: string }>();

  constructor(options: IdentityOptions) {
    this.#options = options;
  }

  /** The machine of a Node, or why it is not known. Rejects with `AwsError` when AWS could not be asked. */
  async identify(node: SeenNode, ask: Ask): Promise<Identification> {
    const claim = claimOf(node);
    const { self } = this.#options;
    switch (claim.kind) {
      case "foreign":
        return unidentified("ForeignProviderID", `provider ID ${node.providerId} belongs to another cloud (${claim.scheme}): not touched`);
      case "invalid":
        return unidentified("InvalidProviderID", `${claim.reason}; kubelet's --provider-id must be aws:///<zone>/<instance id>`);
      case "fargate":
        return this.#fargate(claim, ask);
      case "instance":
        return this.#claimed(node, claim.instanceId, claim.by, ask);
      case "none":
        if (self.instance !== undefined && node.metadata.name === self.nodeName) {
          return this.#claimed(node, self.instance.id, "own name", ask);
        }
        return this.#find(node, ask);
    }
  }

  async #fargate({ address }: Extract<Claim, { kind: "fargate" }>, ask: Ask): Promise<Identification> {
    const { cloud, self } = this.#options;
    if (!self.vpc)
      return unidentified("InterfaceNotFound", "the cluster's VPC is not known: set VPC in the [Global] section of the cloud config");
    const found = await cloud.networkInterfaces.attachedWith(address, self.vpc, ask);
    if (found.length > 1) {
      return unidentified(
        "SeveralMatchingInstances",
        `multiple interfaces found with same id ${address}: ${found.map(({ id }) => id).join(", ")}`,
      );
    }
    const [networkInterface] = found;
    if (networkInterface === undefined) {
      return unidentified(
        "InterfaceNotFound",
        `no attached network interface of ${self.vpc} has the address ${address} of this Fargate node`,
      );
    }
    return { kind: "identified", machine: { kind: "fargate", networkInterface }, by: "provider ID" };
  }

  async #claimed(node: SeenNode, id: string, by: Step, ask: Ask): Promise<Identification> {
    const { cloud, self } = this.#options;
    const lookup = await cloud.instances.lookup(id, ask);
    switch (lookup.kind) {
      case "malformed":
        return unidentified(
          "InvalidProviderID",
          `${id} is not an instance id; kubelet's --provider-id must be aws:///<zone>/<instance id>`,
        );
      case "absent":
        return unidentified("InstanceNotDescribed", `EC2 answered without describing ${id}`);
      case "not-found":
        return unidentified(
          "InstanceNotFound",
          `EC2 in ${cloud.region} does not know ${id} (by ${by}): it is very new, or belongs to another account or region`,
        );
    }
    const { instance } = lookup;
    if (self.vpc && instance.vpc && instance.vpc !== self.vpc) {
      return unidentified("InstanceOfOtherVPC", `${id} (by ${by}) is an instance of ${instance.vpc}, but the cluster's VPC is ${self.vpc}`);
    }
    if (!instance.zone) return unidentified("InstanceWithoutZone", `EC2 describes ${id} without an availability zone`);
    const rival = this.#claimant(id, node);
    if (rival !== undefined) {
      return unidentified("InstanceClaimedTwice", `${id} (by ${by}) is claimed by Node ${rival} too: delete the Node that is not on it`);
    }
    return { kind: "identified", machine: { kind: "instance", instance }, by };
  }

  async #find(node: SeenNode, ask: Ask): Promise<Identification> {
    const seen: Candidate[] = [];
    for (const { by, ...step } of this.#steps(node)) {
      const rivals = step.rivals();
      const found = await Promise.all(
        step.questions.map(({ filter, value }) => this.#options.cloud.instances.lookupBy(filter, value, ask)),
      );
      const candidates = [...new Map(found.flat().map((instance) => [instance.id, instance])).values()].map((instance) => ({
        instance,
        by,
        objection: this.#objection(instance, node),
      }));
      const eligible = candidates.filter(({ objection }) => objection === undefined);
      const [only] = eligible;
      if (eligible.length > 1) {
        const names = eligible.map(({ instance }) => instance.id).join(", ");
        return unidentified("SeveralMatchingInstances", `several instances match by ${by}: ${names}. Start kubelet with --provider-id`);
      }
      if (only !== undefined && rivals.length > 0) {
        return unidentified(
          "InstanceClaimedTwice",
          `${only.instance.id} matches by ${by}, but Nodes ${rivals.join(", ")} match it too. Start kubelet with --provider-id`,
        );
      }
      if (only !== undefined) {
        this.#give(only.instance, node);
        return { kind: "identified", machine: { kind: "instance", instance: only.instance }, by };
      }
      seen.push(...candidates);
    }
    return unidentified("NoMatchingInstance", this.#noMatch(node, seen));
  }

  #steps(node: SeenNode): FindStep[] {
    const { nodes, byNameTag } = this.#options;
    const { name, uid } = node.metadata;
    const addresses = claimedAddresses(node);
    const sharers = () => {
      const others = addresses.flatMap((address) => nodes.by("address", address)).filter((other) => other.metadata.uid !== uid);
      return [...new Set(others.filter((other) => claimOf(other).kind === "none").map((other) => other.metadata.name))];
    };
    return [
      { by: "private DNS name", questions: [{ filter: "private-dns-name", value: name }], rivals: () => [] },
      { by: "address", questions: addresses.map((value) => ({ filter: filterFor(value), value })), rivals: sharers },
      ...(byNameTag ? [{ by: "Name tag", questions: [{ filter: "tag:Name", value: name }], rivals: () => [] } as const] : []),
    ];
  }

  /** Why an instance that matches is not taken; undefined when nothing speaks against it. */
  #objection(instance: Instance, node: SeenNode): string | undefined {
    const { self } = this.#options;
    if (instance.state !== "pending" && instance.state !== "running") return `is ${instance.state ?? "in no known state"}`;
    if (self.vpc && instance.vpc !== self.vpc) return `is in ${instance.vpc ?? "no VPC"}, but the cluster's VPC is ${self.vpc}`;
    if (!hasClusterTag(instance.tags, self.cluster)) return `lacks the tag kubernetes.io/cluster/${self.cluster.id}`;
    if (providerIdFor({ kind: "instance", instance }) === undefined) return "is described without an availability zone";
    const rival = this.#claimant(instance.id, node) ?? this.#namesake(instance, node);
    return rival === undefined ? undefined : `is claimed by Node ${rival}`;
  }

  /** Another Node that claims this instance, or was just given it. */
  #claimant(id: string, node: SeenNode): string | undefined {
    const { nodes } = this.#options;
    const { uid } = node.metadata;
    const other = nodes.by("instance", id).find(({ metadata }) => metadata.uid !== uid);
    if (other !== undefined) return other.metadata.name;
    const given = this.#given.get(id);
    return given !== undefined && given.uid !== uid && this.#stillWaits(given) ? given.name : undefined;
  }

  /** Another Node that goes by this instance's private name: it has the older right. */
  #namesake(instance: Instance, node: SeenNode): string | undefined {
    const other = instance.privateDnsName ? this.#options.nodes.get(instance.privateDnsName) : undefined;
    if (other === undefined || other.metadata.uid === node.metadata.uid) return undefined;
    return claimOf(other).kind === "none" ? other.metadata.name : undefined;
  }

  #give({ id }: Instance, node: SeenNode): void {
    // Once its provider ID shows, the index knows it.
    if (this.#given.size > maxGiven) for (const [key, given] of this.#given) if (!this.#stillWaits(given)) this.#given.delete(key);
    this.#given.set(id, { name: node.metadata.name, uid: node.metadata.uid });
  }

  #stillWaits({ name, uid }: { readonly name: string; readonly uid: string }): boolean {
    const node = this.#options.nodes.get(name);
    return node?.metadata.uid === uid && node.providerId === "";
  }

  #noMatch(node: SeenNode, seen: readonly Candidate[]): string {
    const { cloud, self } = this.#options;
    const near = seen.slice(0, 3).map(({ instance, by, objection }) => `${instance.id} matches by ${by}, but ${objection}`);
    if (near.length > 0) return `no instance fits this Node: ${near.join("; ")}`;
    const addresses = claimedAddresses(node);
    return (
      `no instance in ${cloud.region} has the private DNS name ${node.metadata.name}` +
      `${addresses.length > 0 ? ` or the address ${addresses.join(", ")}` : ""}, is pending or running in ${self.vpc ?? "the VPC"} and carries the ` +
      `tag kubernetes.io/cluster/${self.cluster.id}. Start kubelet with --provider-id, or tag the instance`
    );
  }
}

const maxGiven = 1_000;

interface Candidate {
  readonly instance: Instance;
  readonly by: Step;
  readonly objection: string | undefined;
}

interface FindStep {
  readonly by: Step;
  readonly questions: readonly { readonly filter: LookupFilter; readonly value: string }[];
  /** Nodes that would find the same instance by this step. */
  readonly rivals: () => readonly string[];
}

function unidentified(reason: Unidentified, message: string): Identification {
  return { kind: "unidentified", reason, message };
}

function filterFor(address: string): LookupFilter {
  return address.includes(":") ? "network-interface.ipv6-addresses.ipv6-address" : "network-interface.addresses.private-ip-address";
}
