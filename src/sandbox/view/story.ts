/** What happened between two pictures, in words, and who did it. */
import { isThrottle } from "../calls.ts";
import type { ReplicaView } from "../replicas.ts";
import type { StepTaken } from "../steps.ts";
import {
  type BalancerRow,
  balancerOf,
  type EventRow,
  type NodeRow,
  type NodeView,
  type Picture,
  type PodRow,
  type RouteRow,
  type ServiceRow,
  shortName,
} from "./picture.ts";
import type { Style } from "./text.ts";

export interface Happening {
  readonly at: number;
  readonly who: "Fairlead" | "AWS" | "kubelet" | "Kubernetes" | "Event" | "replicas" | "you";
  readonly text: string;
  readonly style: Style;
}

/** Everything worth a line, in the order of cause and effect. */
export function storyBetween(before: Picture, after: Picture): readonly Happening[] {
  const told = (happening: Omit<Happening, "at">): Happening => ({ at: after.now, ...happening });
  const rows = pairs(before.nodes, after.nodes, idOf);
  return [
    ...throttling(before, after),
    ...pairs(before.replicas, after.replicas, ({ name }) => name).flatMap(([old, now]) => replica(old, now)),
    ...machines(rows),
    ...rows.flatMap(([old, now]) => node(old?.node, now?.node)),
    ...pairs(before.steps, after.steps, ({ id }) => id).flatMap(([old, now]) =>
      old === undefined && now !== undefined ? [step(now)] : [],
    ),
    ...pairs(before.pods, after.pods, ({ uid }) => uid).flatMap(([old, now]) => pod(old, now)),
    ...routes(pairs(before.routes, after.routes, ({ destination }) => destination)),
    ...pairs(before.services, after.services, ({ name }) => name).flatMap(([old, now]) => service(old, now)),
    ...after.services.flatMap((row) => health(row, balancerOf(row, before), balancerOf(row, after))),
    ...after.services.flatMap((row) => opened(row, balancerOf(row, before), balancerOf(row, after))),
    ...events(pairs(before.events, after.events, ({ uid }) => uid)),
  ].map(told);
}

type Entry = Omit<Happening, "at">;

function throttling(before: Picture, after: Picture): readonly Entry[] {
  const told: Entry[] = [];
  if (after.throttling !== before.throttling) {
    told.push(
      after.throttling
        ? { who: "AWS", text: "answers every call with a throttling error from now on", style: "warn" }
        : { who: "AWS", text: "answers again", style: "good" },
    );
  }
  const turnedAway = (picture: Picture) => picture.calls.tallies.reduce((sum, { throttled }) => sum + throttled, 0);
  const more = turnedAway(after) - turnedAway(before);
  const last = after.calls.recent.findLast(({ result, who }) => who === "Fairlead" && isThrottle(result));
  if (more > 0)
    told.push({
      who: "AWS",
      text: `turns ${more === 1 ? "a call" : `${more} calls`} away: ${last?.action} ${last?.result}`,
      style: "warn",
    });
  return told;
}

function replica(old: ReplicaView | undefined, now: ReplicaView | undefined): readonly Entry[] {
  if (now === undefined) return [];
  const told: Entry[] = [];
  if (now.cutOff !== (old?.cutOff ?? false)) {
    told.push({
      who: "replicas",
      text: `${now.name} is ${now.cutOff ? "cut off from" : "back in touch with"} the API server`,
      style: "warn",
    });
  }
  if (now.state === old?.state) return told;
  const texts: Readonly<Record<ReplicaView["state"], Entry>> = {
    leading: { who: "replicas", text: `${now.name} holds the lease: it leads`, style: "good" },
    "standing by": { who: "replicas", text: `${now.name} is on standby`, style: "plain" },
    starting: { who: "replicas", text: `${now.name} starts${now.restarts > 0 ? " again" : ""} (pid ${now.pid})`, style: "plain" },
    down: { who: "replicas", text: `${now.name} is down`, style: "bad" },
  };
  return [...told, texts[now.state]];
}

/** What happens to several machines at once is said once. Rows of those that ended go with their Node, and are no news. */
function machines(rows: readonly Pair<NodeRow>[]): readonly Entry[] {
  const changed = rows.flatMap(([old, now]) => (now?.machine === undefined || now.machine === old?.machine ? [] : [now]));
  return [...Map.groupBy(changed, ({ machine }) => machine)].map(([state, same]) => ({
    who: "AWS",
    text: same.length === 1 ? `${same[0]!.instanceId} is ${state}` : `${same.length} machines are ${state}`,
    style: "plain",
  }));
}

function node(old: NodeView | undefined, now: NodeView | undefined): readonly Entry[] {
  if (old !== undefined && old.uid !== now?.uid) {
    const gone: Entry = { who: "Fairlead", text: `${shortName(old.name)} is deleted: its machine is gone for good`, style: "warn" };
    return [gone, ...node(undefined, now)];
  }
  if (now === undefined) return [];
  const name = shortName(now.name);
  if (old === undefined) {
    const waits = now.taints.includes("uninitialized") ? ", tainted uninitialized" : "";
    return [{ who: "kubelet", text: `${name} registers as a Node${waits}`, style: "plain" }];
  }
  const told: Entry[] = [];
  const facts = [
    now.type !== old.type ? now.type : undefined,
    now.zone !== old.zone ? `in ${now.zone}` : undefined,
    now.internalIp !== old.internalIp ? `at ${now.internalIp}` : undefined,
  ].filter((fact) => fact !== undefined);
  const gained = (taint: string) => now.taints.includes(taint) && !old.taints.includes(taint);
  const lost = (taint: string) => old.taints.includes(taint) && !now.taints.includes(taint);
  if (lost("uninitialized")) {
    told.push({
      who: "Fairlead",
      text: `${name} initialised: ${facts.length > 0 ? `${facts.join(" ")}, ` : ""}taint removed`,
      style: "good",
    });
  } else if (facts.length > 0) told.push({ who: "Fairlead", text: `${name} is ${facts.join(" ")}`, style: "plain" });
  if (gained("shutdown")) told.push({ who: "Fairlead", text: `${name} tainted shutdown: its machine is stopped`, style: "warn" });
  if (lost("shutdown")) told.push({ who: "Fairlead", text: `${name} freed of the taint shutdown: its machine is back`, style: "good" });
  if (now.cordoned !== old.cordoned) {
    told.push({ who: "Fairlead", text: `${name} is ${now.cordoned ? "cordoned: it gets no new pods" : "uncordoned"}`, style: "warn" });
  }
  const phase = now.interruption === old.interruption ? undefined : interruptions[now.interruption ?? ""];
  if (phase !== undefined) told.push({ who: "Fairlead", text: `${name} ${phase}`, style: "plain" });
  if (now.ready !== old.ready) told.push(readiness(name, now.ready));
  return told;
}

/** Phases of a plan that are worth a line. */
const interruptions: Readonly<Record<string, string>> = {
  draining: "is being drained",
  ended: "is done with its interruption",
};

function pod(old: PodRow | undefined, now: PodRow | undefined): readonly Entry[] {
  if (old === undefined && now !== undefined)
    return [{ who: "Kubernetes", text: `pod ${now.name} runs on ${shortName(now.node)}`, style: "plain" }];
  if (old !== undefined && now === undefined)
    return [{ who: "kubelet", text: `pod ${old.name} has ended on ${shortName(old.node)}`, style: "plain" }];
  return [];
}

function readiness(name: string, ready: NodeView["ready"]): Entry {
  if (ready === "True") return { who: "kubelet", text: `${name} is Ready`, style: "plain" };
  return { who: "Kubernetes", text: `${name} is no longer Ready: its kubelet stopped reporting`, style: "warn" };
}

function routes(all: readonly Pair<RouteRow>[]): readonly Entry[] {
  return all.flatMap(([old, now]): readonly Entry[] => {
    if (now === undefined) return [{ who: "Fairlead", text: `route ${old?.destination} removed from the VPC`, style: "warn" }];
    if (now.instanceId === old?.instanceId) return [];
    return [{ who: "Fairlead", text: `route ${now.destination} leads to ${now.instanceId ?? "a machine that is gone"}`, style: "good" }];
  });
}

function step({ what, why }: StepTaken): Entry {
  return { who: "Fairlead", text: `${readable(what)}: ${why}`, style: "plain" };
}

/** Several ids in a row are counted, and names made of a UID are cut: nobody reads those. */
function readable(what: string): string {
  const counted =
    (noun: string) =>
    (ids: string, more = "0") =>
      `${ids.split(", ").length + Number(more)} ${noun}`;
  return what
    .replace(/\bi-[0-9a-f]{17}(?::\d+)?(?:, i-[0-9a-f]{17}(?::\d+)?)+(?: and (\d+) more)?/g, counted("machines"))
    .replace(/\bsubnet-[0-9a-f]{17}(?:, subnet-[0-9a-f]{17})+()/g, counted("subnets"))
    .replace(/([0-9a-f]{8})[0-9a-f]{24}\b/g, "$1…");
}

function service(old: ServiceRow | undefined, now: ServiceRow | undefined): readonly Entry[] {
  if (now === undefined) return old === undefined ? [] : [{ who: "Kubernetes", text: `Service ${old.name} is gone`, style: "plain" }];
  const told: Entry[] = [];
  if (old === undefined) told.push({ who: "you", text: `Service ${now.name} asks for a ${now.kind} load balancer`, style: "plain" });
  if (now.address !== undefined && now.address !== old?.address)
    told.push({ who: "Fairlead", text: `Service ${now.name} is served at ${now.address}`, style: "good" });
  if (now.deleting && !old?.deleting) told.push({ who: "you", text: `Service ${now.name} is to be deleted`, style: "plain" });
  return told;
}

function health({ name }: ServiceRow, old: BalancerRow | undefined, now: BalancerRow | undefined): readonly Entry[] {
  if (now === undefined || now.targets === 0 || (now.healthy === old?.healthy && now.targets === old.targets)) return [];
  if (now.healthy < now.targets) {
    const fewer = now.healthy < (old?.healthy ?? 0);
    return fewer ? [{ who: "AWS", text: `${now.healthy} of ${now.targets} nodes behind ${name} are healthy`, style: "warn" }] : [];
  }
  return [{ who: "AWS", text: `all ${now.targets} nodes behind ${name} are healthy: it serves`, style: "good" }];
}

/** How somebody at this machine gets through. */
function opened({ name }: ServiceRow, old: BalancerRow | undefined, now: BalancerRow | undefined): readonly Entry[] {
  const fresh = (now?.local ?? []).filter(({ url }) => !old?.local.some((each) => each.url === url));
  return fresh.map(({ port, url }) => ({ who: "AWS", text: `port ${port} of ${name} is open to you: curl ${url}`, style: "accent" }));
}

/** Not of leases: the replicas tell of those themselves. The same about several objects is said once. */
function events(all: readonly Pair<EventRow>[]): readonly Entry[] {
  const fresh = all.flatMap(([old, now]) =>
    now === undefined || now.count === old?.count || now.reason === "LeaderElection" ? [] : [now],
  );
  const kindOf = ({ about }: EventRow) => about.slice(0, about.indexOf("/"));
  return [...Map.groupBy(fresh, (row) => `${row.reason} ${kindOf(row)} ${row.message}`).values()].map((same) => {
    const { about, reason, message, warning } = same[0]!;
    const subject = same.length > 1 ? `${same.length} ${plural(kindOf(same[0]!))}` : about.startsWith("node/") ? shortName(about) : about;
    return { who: "Event", text: `${reason} ${subject}: ${message}`, style: warning ? "warn" : "dim" };
  });
}

function idOf({ instanceId, node: view }: NodeRow): string {
  return instanceId ?? view?.uid ?? "";
}

/** What something was and what it is; undefined where it did not or does not exist. */
type Pair<T> = readonly [T | undefined, T | undefined];

function pairs<T>(before: readonly T[], after: readonly T[], id: (of: T) => string): readonly Pair<T>[] {
  const old = new Map(before.map((each) => [id(each), each]));
  const now = new Map(after.map((each) => [id(each), each]));
  return [...new Set([...old.keys(), ...now.keys()])].map((key) => [old.get(key), now.get(key)]);
}

const plural = (kind: string) => (kind.endsWith("s") ? `${kind}es` : `${kind}s`);
