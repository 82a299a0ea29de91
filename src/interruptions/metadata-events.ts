/** What the metadata service says of its own instance, read. Pure: from the texts at its paths to events. */
import { createHash } from "node:crypto";
import type { InterruptionEvent } from "./event.ts";

/** The paths below `/latest/` that are polled. */
export const metadataPaths = {
  spot: "meta-data/spot/instance-action",
  rebalance: "meta-data/events/recommendations/rebalance",
  maintenance: "meta-data/events/maintenance/scheduled",
  termination: "meta-data/autoscaling/target-lifecycle-state",
} as const;

/** One of them. */
export type MetadataMonitor = keyof typeof metadataPaths;

/** What a path says: events that are on, and ids of those that are off again. */
export interface MetadataNotice {
  readonly events: readonly InterruptionEvent[];
  readonly over: readonly string[];
}

/** What was said cannot be read. */
export class MetadataUnreadable extends Error {
  override readonly name = "MetadataUnreadable";
}

const quiet: MetadataNotice = { events: [], over: [] };

/** Codes of maintenance after which the machine has been restarted. */
const restartCodes: ReadonlySet<string> = new Set(["instance-stop", "instance-retirement", "instance-reboot", "system-reboot"]);

/** Reads what a path says at this moment; undefined is what a path says that is not there. */
export const metadataReaders: Readonly<Record<MetadataMonitor, (text: string | undefined, now: number, bootId: string) => MetadataNotice>> =
  {
    spot(text) {
      if (text === undefined) return quiet;
      const { action, time } = parsed<{ action?: string; time?: string }>(text, "spot interruption");
      const deadline = timeOf(time, "spot interruption");
      return on({
        // As the reference makes it: from what its language prints of the document.
        id: `spot-itn-${sha256(`&{${action ?? ""} ${time}}`)}`,
        kind: "spot",
        monitor: "SPOT_ITN_MONITOR",
        instanceId: "",
        description: `Spot ITN received. Instance will be interrupted at ${time} \n`,
        startTime: deadline,
        deadline,
      });
    },
    rebalance(text) {
      if (text === undefined) return quiet;
      const { noticeTime } = parsed<{ noticeTime?: string }>(text, "rebalance recommendation");
      return on({
        id: `rebalance-recommendation-${sha256(`&{${noticeTime}}`)}`,
        kind: "rebalance",
        monitor: "REBALANCE_RECOMMENDATION_MONITOR",
        instanceId: "",
        description: `Rebalance recommendation received. Instance will be cordoned at ${noticeTime} \n`,
        startTime: timeOf(noticeTime, "rebalance recommendation"),
      });
    },
    maintenance(text, now) {
      // A service without the path has no maintenance to tell.
      if (text === undefined) return quiet;
      const items = parsed<readonly Maintenance[] | null>(text, "scheduled maintenance") ?? [];
      const active = items.filter(({ State = "" }) => State !== "canceled" && State !== "completed");
      return {
        events: active.map((item) => maintenanceEvent(item, now)),
        over: items.filter((item) => !active.includes(item)).map(({ EventId = "" }) => EventId),
      };
    },
    termination(text, now, bootId) {
      if (text?.trim() !== "Terminated") return quiet;
      return on({
        // The same for as long as the machine runs: it is told at every poll.
        id: `target-lifecycle-state-terminated-${sha256(`Terminated:${bootId}`)}`,
        kind: "termination",
        monitor: "ASG_LIFECYCLE_MONITOR",
        instanceId: "",
        description: "AST target lifecycle state received. Instance will be terminated\n",
        startTime: now,
      });
    },
  };

interface Maintenance {
  readonly NotBefore?: string;
  readonly NotAfter?: string;
  readonly Code?: string;
  readonly Description?: string;
  readonly EventId?: string;
  readonly State?: string;
}

function maintenanceEvent({ NotBefore, NotAfter, Code = "", Description = "", EventId = "" }: Maintenance, now: number): InterruptionEvent {
  return {
    id: EventId,
    kind: "maintenance",
    monitor: "SCHEDULED_EVENT_MONITOR",
    instanceId: "",
    description: `${Code} will occur between ${NotBefore} and ${NotAfter ?? ""} because ${Description}\n`,
    startTime: now,
    deadline: timeOf(NotBefore, "scheduled maintenance"),
    ...(restartCodes.has(Code) && { restarts: true }),
  };
}

function on(event: InterruptionEvent): MetadataNotice {
  return { events: [event], over: [] };
}

function parsed<T>(text: string, what: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new MetadataUnreadable(`the ${what} of the metadata service is not JSON`, { cause });
  }
}

function timeOf(text: string | undefined, what: string): number {
  const ms = Date.parse(text ?? "");
  if (Number.isNaN(ms)) throw new MetadataUnreadable(`the ${what} of the metadata service has no readable time: ${JSON.stringify(text)}`);
  return ms;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
