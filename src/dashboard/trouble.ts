/** What is wrong, in words that say what to do: from Events, from what the processes say of themselves, and from who leads. */
import type { CallRecord } from "../aws/ledger.ts";
import type { Stored } from "../kube/resource.ts";
import type { Event } from "../kube/types.ts";
import type { Now } from "../process/now.ts";
import { redact } from "../runtime/redact.ts";

export interface Trouble {
  /** The same as long as it is the same trouble. */
  readonly id: string;
  /** The thing it is about; undefined when it is about Fairlead or the account. */
  readonly about?: string;
  readonly title: string;
  readonly message: string;
  /** What to do. */
  readonly remedy: string;
  /** How often it was tried, and when last; milliseconds since the epoch. */
  readonly count: number;
  readonly since: number;
  readonly last: number;
  readonly requestId?: string;
  /** The latest calls for the thing that changed something or failed, the newest first. */
  readonly tried?: readonly Try[];
}

export interface Try {
  readonly at: number;
  /** `elbv2:CreateLoadBalancer: InvalidSubnet, request id …` */
  readonly text: string;
}

/** An Event, as much of it as is shown. */
export interface EventView {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string; readonly resourceVersion: string };
  readonly uid: string;
  readonly about: string;
  readonly warning: boolean;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly since: number;
  readonly last: number;
}

/** The kinds of things by the kinds of objects that Events name. */
const kindOf: Readonly<Record<string, string>> = {
  Service: "service",
  Ingress: "ingress",
  Gateway: "gateway",
  TargetGroupBinding: "binding",
  Node: "node",
  PersistentVolumeClaim: "claim",
  PersistentVolume: "persistent-volume",
};
const followed = new Set(Object.values(kindOf));

/** Whether the page would know a thing of this id if it were there; it follows some kinds of objects only. */
export function isFollowed(about: string): boolean {
  return followed.has(about.split("/", 1)[0]!);
}

export function eventView(event: Stored<Event>): EventView {
  const { metadata, involvedObject, type, reason = "", message = "", count, series, firstTimestamp, lastTimestamp, eventTime } = event;
  const { kind = "", namespace = "", name = "", uid = "" } = involvedObject;
  const last = Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "") || 0;
  const path = kind === "Node" || kind === "PersistentVolume" || namespace === "" ? name : `${namespace}/${name}`;
  return {
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace ?? "",
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    },
    uid,
    about: `${kindOf[kind] ?? kind.toLowerCase()}/${path}`,
    warning: type === "Warning",
    reason,
    message: redact(message),
    count: series?.count ?? count ?? 1,
    since: Date.parse(firstTimestamp ?? eventTime ?? "") || last,
    last,
  };
}

/** Kept Warnings outlive their reason by an hour; a failure that goes on is told anew every few minutes. */
const staleMs = 10 * 60_000;

/** Events that say that something is done. Others are told on the way to a failure too (`EnsuringLoadBalancer`), or of something else. */
const wentWell = new Set([
  "Synced",
  "EnsuredLoadBalancer",
  "UpdatedLoadBalancer",
  "DeletedLoadBalancer",
  "SuccessfullyReconciled",
  "ProvisioningSucceeded",
  "VolumeResizeSuccessful",
  "VolumeModifySuccessful",
]);

/** Troubles of objects that are still there: the latest Warning of each reason, unless something went well after it. */
export function troublesOf(
  events: Iterable<EventView>,
  remedies: ReadonlyMap<string, string>,
  isThere: (id: string, uid: string) => boolean,
  now: number,
): readonly Trouble[] {
  const latest = new Map<string, EventView>();
  const well = new Map<string, number>();
  for (const event of events) {
    if (!event.warning) {
      if (wentWell.has(event.reason)) well.set(event.about, Math.max(well.get(event.about) ?? 0, event.last));
      continue;
    }
    const key = `${event.about} ${event.reason}`;
    if ((latest.get(key)?.last ?? -1) < event.last) latest.set(key, event);
  }
  return [...latest].flatMap(([id, { uid, about, reason, message, count, since, last }]) => {
    const remedy = remedies.get(reason);
    // Others write Events too; only what Fairlead says is known to be about AWS.
    if (remedy === undefined || !isThere(about, uid) || last < (well.get(about) ?? 0) || now - last > staleMs) return [];
    const requestId = /request id:? ([0-9a-f-]{8,})/i.exec(message)?.[1];
    return [{ id, about, title: reason, message, remedy, count, since, last, ...(requestId && { requestId }) }];
  });
}

/** A process that was asked, and what it said; undefined when it did not answer. */
export interface Asked {
  readonly endpoint: string;
  readonly said: Now | undefined;
  readonly problem?: string;
  /** When it was asked, and since when it has not answered; by our clock. */
  readonly at: number;
  readonly since?: number;
}

/** How far a process's clock is ahead of ours, in whole seconds; what an answer takes is no difference. */
export function aheadOf(said: Now, now: number): number {
  const aheadMs = said.at - now;
  return Math.abs(aheadMs) < 3_000 ? 0 : Math.round(aheadMs / 1_000) * 1_000;
}

/** What a process said, with its times by our clock. */
export function onOurClock(said: Now, aheadMs: number): Now {
  const ours = <T extends { readonly at: number }>(of: readonly T[]) => of.map((each) => ({ ...each, at: each.at - aheadMs }));
  return aheadMs === 0 ? said : { ...said, at: said.at - aheadMs, lines: ours(said.lines), calls: ours(said.calls) };
}

/** What was tried for each trouble, and when. */
export function withTries(troubles: readonly Trouble[], calls: readonly CallRecord[]): readonly Trouble[] {
  const attempts = calls.filter(({ action, outcome }) => outcome !== "ok" || !/^(Describe|List|Get)/.test(action));
  // `service shop/web, targets of service shop/web`: the last word of each cause is the object's name.
  const causes = attempts.flatMap((call) => call.cause.split(", ").map((cause) => ({ call, cause, name: cause.split(" ").at(-1) ?? "" })));
  const byName = Map.groupBy(causes, ({ name }) => name);
  return troubles.map((trouble) => {
    const [kind = "", ...path] = (trouble.about ?? "").split("/");
    const of = (byName.get(path.join("/")) ?? []).filter(({ cause }) => cause.includes(kind));
    const latest = [...new Set(of.map(({ call }) => call))].slice(-5).reverse();
    return latest.length === 0 ? trouble : { ...trouble, tried: latest.map(tryOf) };
  });
}

function tryOf({ at, service, action, outcome, code, requestId }: CallRecord): Try {
  const how = outcome === "ok" ? "done" : (code ?? outcome);
  return { at, text: `${service}:${action}: ${how}${requestId ? `, request id ${requestId}` : ""}` };
}

/** A Lease, as much of it as says who leads. */
export interface LeaseView {
  readonly name: string;
  readonly holder: string;
  /** By the clock of its holder. */
  readonly renewed: number;
  /** When we saw this renewal: whether somebody leads is told by one clock, as those who wait for the Lease do. */
  readonly seen: number;
  readonly durationMs: number;
}

/** Over how much of the past calls are looked at. */
const recentMs = 15_000;

/** Troubles of Fairlead itself. */
export function processTroubles(asked: readonly Asked[], leases: readonly LeaseView[], now: number): readonly Trouble[] {
  const unreachable = asked.flatMap(({ endpoint, said, problem, at, since = at }) =>
    said === undefined
      ? [
          {
            count: 1,
            since,
            last: at,
            id: `endpoint ${endpoint}`,
            title: "A process does not answer",
            message: `${endpoint}: ${problem ?? "no answer"}`,
            remedy: /answers 40[13]/.test(problem ?? "")
              ? "Your account needs `get` on the path /debug/fairlead/*: the page on the dashboard in the documentation has the role."
              : "It may have been restarted; another replica takes over when its Lease ends. Look at its pod's log if it stays so.",
          },
        ]
      : [],
  );
  const leaderless = leases.flatMap(({ name, holder, seen, durationMs }) =>
    holder === "" || now - seen > durationMs
      ? [
          {
            count: 1,
            since: seen,
            last: seen,
            id: `lease ${name}`,
            title: "Nobody leads",
            message: `Lease ${name} was renewed last ${Math.round((now - seen) / 1000)} s ago${holder ? ` by ${holder}` : ""}, or longer.`,
            remedy:
              "A standby takes over by itself within the Lease's duration. If it stays so, look at the pods: runbook FairleadNobodyLeads.",
          },
        ]
      : [],
  );
  return [...unreachable, ...leaderless, ...throttled(asked, now), ...denied(asked, now)];
}

function throttled(asked: readonly Asked[], now: number): readonly Trouble[] {
  const budgets = asked.flatMap(({ said }) => said?.budgets ?? []);
  const slowed = budgets.flatMap(({ action, throttledMsAgo = Number.POSITIVE_INFINITY, waiting }) =>
    throttledMsAgo < recentMs ? [{ action, throttledMsAgo, waiting }] : [],
  );
  if (slowed.length === 0) return [];
  const waiting = slowed.reduce((sum, each) => sum + each.waiting, 0);
  const [first, last] = [Math.max(...slowed.map((each) => each.throttledMsAgo)), Math.min(...slowed.map((each) => each.throttledMsAgo))];
  return [
    {
      id: "throttled",
      title: "AWS throttles",
      message: `${slowed.map(({ action }) => action).join(", ")}; ${waiting} calls wait`,
      remedy:
        "Fairlead slows down by itself and loses nothing: what users wait for goes first. If it stays so, find who else calls (Cost), or ask AWS for higher limits.",
      count: slowed.length,
      since: now - first,
      last: now - last,
    },
  ];
}

function denied(asked: readonly Asked[], now: number): readonly Trouble[] {
  const calls = asked
    .flatMap(({ said }) => said?.calls ?? [])
    .filter(({ at, outcome }) => outcome === "denied" && now - at < 10 * recentMs);
  const byAction = Map.groupBy(calls, ({ service, action }) => `${service}:${action}`);
  return [...byAction].map(([action, of]) => {
    const last = of.at(-1)!;
    return {
      id: `denied ${action}`,
      title: "AWS refuses a call",
      message: `${action} is not allowed (${last.code ?? "denied"}), for ${last.cause}`,
      remedy: `Allow ${action} in the role of the controllers: docs/reference/permissions.md has the whole policy; fairlead doctor checks it.`,
      count: of.length,
      since: of[0]!.at,
      last: last.at,
      ...(last.requestId && { requestId: last.requestId }),
    };
  });
}
