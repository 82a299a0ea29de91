/** What happened between two pictures, in words, and who did it. */
import { isThrottle } from "../calls.ts";
import type { ReplicaView } from "../replicas.ts";
import { type EventRow, type NodeRow, type NodeView, type Picture, type ServiceRow, shortName } from "./picture.ts";
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
  return [
    ...throttling(before, after),
    ...pairs(before.replicas, after.replicas, ({ name }) => name).flatMap(([old, now]) => replica(old, now)),
    ...pairs(before.nodes, after.nodes, idOf).flatMap(([old, now]) => [...machine(old, now), ...node(old?.node, now?.node)]),
    ...pairs(before.services, after.services, ({ name }) => name).flatMap(([old, now]) => service(old, now)),
    ...pairs(before.events, after.events, ({ uid }) => uid).flatMap(([old, now]) => event(old, now)),
  ].map(told);
}

type Told = Omit<Happening, "at">;

function throttling(before: Picture, after: Picture): readonly Told[] {
  const told: Told[] = [];
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

function replica(old: ReplicaView | undefined, now: ReplicaView | undefined): readonly Told[] {
  if (now === undefined) return [];
  const told: Told[] = [];
  if (now.cutOff !== (old?.cutOff ?? false)) {
    told.push({
      who: "replicas",
      text: `${now.name} is ${now.cutOff ? "cut off from" : "back in touch with"} the API server`,
      style: "warn",
    });
  }
  if (now.state === old?.state) return told;
  const texts: Readonly<Record<ReplicaView["state"], Told>> = {
    leading: { who: "replicas", text: `${now.name} holds the lease: it leads`, style: "good" },
    "standing by": { who: "replicas", text: `${now.name} stands by`, style: "plain" },
    starting: { who: "replicas", text: `${now.name} starts${now.restarts > 0 ? " again" : ""} (pid ${now.pid})`, style: "plain" },
    down: { who: "replicas", text: `${now.name} is down`, style: "bad" },
  };
  return [...told, texts[now.state]];
}

function machine(old: NodeRow | undefined, now: NodeRow | undefined): readonly Told[] {
  // Rows of machines that have ended are no longer drawn once their Node is gone.
  if (now?.machine === undefined || now.machine === old?.machine) return [];
  return [{ who: "AWS", text: `${now.instanceId} is ${now.machine}`, style: "plain" }];
}

function node(old: NodeView | undefined, now: NodeView | undefined): readonly Told[] {
  if (now === undefined || (old !== undefined && old.uid !== now.uid)) {
    if (old === undefined) return [];
    return [
      { who: "Fairlead", text: `${shortName(old.name)} is deleted: its machine is gone for good`, style: "warn" },
      ...node(undefined, now),
    ];
  }
  const name = shortName(now.name);
  const told: Told[] = [];
  if (old === undefined)
    told.push({
      who: "kubelet",
      text: `${name} registers as a Node${now.taints.length ? `, tainted ${now.taints.join(", ")}` : ""}`,
      style: "plain",
    });
  const learnt = [
    now.type !== undefined && now.type !== old?.type ? now.type : "",
    now.zone !== undefined && now.zone !== old?.zone ? `in ${now.zone}` : "",
    now.internalIp !== undefined && now.internalIp !== old?.internalIp ? `at ${now.internalIp}` : "",
  ].filter((part) => part !== "");
  if (learnt.length > 0) told.push({ who: "Fairlead", text: `${name} is ${learnt.join(" ")}`, style: "plain" });
  if (old === undefined) return told;
  const gained = now.taints.filter((taint) => !old.taints.includes(taint));
  const lost = old.taints.filter((taint) => !now.taints.includes(taint));
  if (lost.includes("uninitialized"))
    told.push({ who: "Fairlead", text: `${name} is initialized: its taint is gone, pods may run there`, style: "good" });
  if (gained.includes("shutdown"))
    told.push({ who: "Fairlead", text: `${name} gets the taint shutdown: its machine is stopped`, style: "warn" });
  if (lost.includes("shutdown"))
    told.push({ who: "Fairlead", text: `${name} loses the taint shutdown: its machine is back`, style: "good" });
  if (now.ready !== old.ready) told.push(readiness(name, now.ready));
  return told;
}

function readiness(name: string, ready: NodeView["ready"]): Told {
  if (ready === "True") return { who: "kubelet", text: `${name} is Ready`, style: "plain" };
  return { who: "Kubernetes", text: `${name} is no longer Ready: its kubelet fell silent`, style: "warn" };
}

function service(old: ServiceRow | undefined, now: ServiceRow | undefined): readonly Told[] {
  if (now === undefined) return old === undefined ? [] : [{ who: "Kubernetes", text: `Service ${old.name} is gone`, style: "plain" }];
  const told: Told[] = [];
  if (old === undefined) told.push({ who: "you", text: `Service ${now.name} asks for a ${now.kind} load balancer`, style: "plain" });
  if (now.address !== undefined && now.address !== old?.address)
    told.push({ who: "Fairlead", text: `Service ${now.name} is served at ${now.address}`, style: "good" });
  if (now.deleting && !old?.deleting) told.push({ who: "you", text: `Service ${now.name} is to be deleted`, style: "plain" });
  return told;
}

/** Not of leases: the replicas tell of those themselves. */
function event(old: EventRow | undefined, now: EventRow | undefined): readonly Told[] {
  if (now === undefined || now.reason === "LeaderElection" || now.count === old?.count) return [];
  const about = now.about.replace(
    /^(\w+)\/(.*)$/,
    (_, kind: string, name: string) => `${kind}/${kind === "node" ? shortName(name) : name}`,
  );
  return [{ who: "Event", text: `${now.reason} ${about}: ${now.message}`, style: now.warning ? "warn" : "dim" }];
}

function idOf({ instanceId, node: view }: NodeRow): string {
  return instanceId ?? view?.uid ?? "";
}

/** Everything that is in one of them, with what it was and what it is. */
function pairs<T>(before: readonly T[], after: readonly T[], id: (of: T) => string): readonly (readonly [T | undefined, T | undefined])[] {
  const old = new Map(before.map((each) => [id(each), each]));
  const now = new Map(after.map((each) => [id(each), each]));
  return [...new Set([...old.keys(), ...now.keys()])].map((key) => [old.get(key), now.get(key)]);
}
