/** Which load balancers are a Service's own: by the name made from its UID, or by a name of the user's choice and our tags. */
import type { LoadBalancerDescription } from "@aws-sdk/client-elastic-load-balancing";
import type { LoadBalancer } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "../../aws/ask.ts";
import { isOwned } from "../../identity/ownership.ts";
import type { Inventory } from "../inventory.ts";
import type { Ages } from "../listing.ts";
import type { Tags } from "../model.ts";
import { loadBalancerName } from "../names.ts";
import type { Kind } from "./annotations.ts";
import { serviceTag } from "./desire.ts";

interface Common {
  readonly name: string;
  readonly hostname: string;
  readonly internal: boolean;
  readonly subnets: readonly string[];
  readonly securityGroups: readonly string[];
  /** Wall-clock milliseconds. */
  readonly createdAt: number;
}

/** A load balancer that stands. */
export type Found = Common &
  (
    | { readonly kind: "classic"; readonly description: LoadBalancerDescription }
    | { readonly kind: "network"; readonly description: LoadBalancer; readonly arn: string; readonly state: string }
  );

/** As it is published. AWS keeps the capitals of a load balancer's name in it; Kubernetes takes none, and DNS does not care. */
export function hostnameOf({ DNSName = "" }: { readonly DNSName?: string }): string {
  return DNSName.toLowerCase();
}

/** As much of a Service as tells which load balancers may be its own. */
export interface Seeker {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The name the user asks for. */
  readonly chosen?: string;
  /** Names the user asked for before, as they were written down. */
  readonly earlier: readonly string[];
  readonly hostname: string;
}

/** Every name that its load balancers have or may have had. */
export function namesOf({ uid, chosen, earlier }: Seeker): readonly string[] {
  return [...new Set([loadBalancerName(uid), ...(chosen ? [chosen] : []), ...earlier])];
}

/** Whether the published host name has in it the name that we alone give. Under a chosen one others may have made theirs. */
export function hasOwnHostname({
  metadata,
  hostname,
}: {
  readonly metadata: { readonly uid: string };
  readonly hostname: string;
}): boolean {
  const name = loadBalancerName(metadata.uid);
  return hostname.startsWith(`${name}-`) || hostname.startsWith(`internal-${name}-`);
}

export interface Sighting {
  /** The Service's own, of either kind. */
  readonly found: readonly Found[];
  /** Names that the user chose, now or before, and somebody else has. */
  readonly taken: readonly { readonly kind: Kind; readonly name: string }[];
}

/** Looks under every name the Service may have used. */
export async function findLoadBalancers(seeker: Seeker, inventory: Inventory, ages: Ages, ask: Ask): Promise<Sighting> {
  const [own = "", ...others] = namesOf(seeker);
  const kinds = ["classic", "network"] as const;
  const byName = await Promise.all(kinds.map((kind) => look(kind, own, inventory, ages, ask)));
  const found = byName.filter((each) => each !== undefined);
  const taken: Sighting["taken"][number][] = [];
  for (const kind of kinds) {
    const names = new Set([...others, ...(await publishedName(kind, seeker, found, inventory, ages, ask))]);
    for (const name of names) {
      const other = name === own ? undefined : await look(kind, name, inventory, ages, ask);
      if (other === undefined) continue;
      if (await isServices(other, seeker, inventory, ask)) found.push(other);
      else if (others.includes(name)) taken.push({ kind, name });
    }
  }
  return { found, taken };
}

/** Whether its tags say that it was made for this Service of this cluster. */
export async function isServices(lb: Found, seeker: Pick<Seeker, "namespace" | "name">, inventory: Inventory, ask: Ask): Promise<boolean> {
  const { cloud } = inventory;
  const tags = lb.kind === "classic" ? await cloud.classicLoadBalancers.tags(lb.name, ask) : await cloud.loadBalancers.tags(lb.arn, ask);
  return tags !== undefined && carriesService(tags, seeker, inventory);
}

/** Whether these are tags of something made for this Service of this cluster. */
export function carriesService(tags: Tags, { namespace, name }: Pick<Seeker, "namespace" | "name">, { place }: Inventory): boolean {
  return isOwned(tags, place.cluster) && tags[serviceTag] === `${namespace}/${name}`;
}

/** The name of what the status points to, where it is none of those looked for already. */
async function publishedName(
  kind: Kind,
  { hostname, namespace, name }: Seeker,
  found: readonly Found[],
  { classic, loadBalancers }: Inventory,
  ages: Ages,
  ask: Ask,
): Promise<string[]> {
  if (hostname === "" || found.some((lb) => lb.hostname === hostname)) return [];
  const all = await (kind === "classic" ? classic : loadBalancers).all(ages.absentMs, ask, `${namespace}/${name}`);
  return all.flatMap((each) => (hostnameOf(each) === hostname && each.LoadBalancerName ? [each.LoadBalancerName] : []));
}

async function look(kind: Kind, name: string, inventory: Inventory, ages: Ages, ask: Ask): Promise<Found | undefined> {
  if (kind === "classic") {
    const description = await inventory.classic.get(name, ages, ask);
    return description && foundClassic(description);
  }
  const description = await inventory.loadBalancers.get(name, ages, ask);
  return description?.Type === "network" ? foundNetwork(description) : undefined;
}

function foundClassic(description: LoadBalancerDescription): Found {
  return {
    kind: "classic",
    name: description.LoadBalancerName ?? "",
    hostname: hostnameOf(description),
    internal: description.Scheme === "internal",
    subnets: description.Subnets ?? [],
    securityGroups: description.SecurityGroups ?? [],
    createdAt: description.CreatedTime?.getTime() ?? 0,
    description,
  };
}

function foundNetwork(description: LoadBalancer): Found {
  return {
    kind: "network",
    name: description.LoadBalancerName ?? "",
    hostname: hostnameOf(description),
    internal: description.Scheme === "internal",
    subnets: (description.AvailabilityZones ?? []).flatMap(({ SubnetId }) => SubnetId ?? []),
    securityGroups: description.SecurityGroups ?? [],
    createdAt: description.CreatedTime?.getTime() ?? 0,
    description,
    arn: description.LoadBalancerArn ?? "",
    state: description.State?.Code ?? "",
  };
}
