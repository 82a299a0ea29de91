/** What the metadata service says of its own instance, read. Pure: from the texts at its paths to events. */
import { createHash } from "node:crypto";
import type { InterruptionEvent } from "./event.ts";
import { type Fields, isRecord, objectOf, text, timeOf } from "./json-fields.ts";

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
  /** What of it cannot be read. The rest holds all the same. */
  readonly problem?: MetadataUnreadable;
}

/** What was said cannot be read. */
export class MetadataUnreadable extends Error {
  override readonly name = "MetadataUnreadable";
}

const quiet: MetadataNotice = { events: [], over: [] };

/** Codes of maintenance after which the machine has been restarted. */
const restartCodes: ReadonlySet<string> = new Set(["instance-stop", "instance-retirement", "instance-reboot", "system-reboot"]);

/** Reads what a path says at this moment; undefined is what a path says that is not there. */
export const metadataReaders: Readonly<Record<MetadataMonitor, (body: string | undefined, now: number, bootId: string) => MetadataNotice>> =
  {
    spot(body) {
      if (body === undefined) return quiet;
      const notice = documentOf(body, "spot interruption");
      const time = text(notice, "time");
      const deadline = timeIn(time, "spot interruption");
      return on({
        // As the reference makes it: from what its language prints of the document.
        id: `spot-itn-${sha256(`&{${text(notice, "action")} ${time}}`)}`,
        kind: "spot",
        monitor: "SPOT_ITN_MONITOR",
        instanceId: "",
        description: `Spot ITN received. Instance will be interrupted at ${time} \n`,
        startTime: deadline,
        deadline,
      });
    },
    rebalance(body) {
      if (body === undefined) return quiet;
      const noticeTime = text(documentOf(body, "rebalance recommendation"), "noticeTime");
      return on({
        id: `rebalance-recommendation-${sha256(`&{${noticeTime}}`)}`,
        kind: "rebalance",
        monitor: "REBALANCE_RECOMMENDATION_MONITOR",
        instanceId: "",
        description: `Rebalance recommendation received. Instance will be cordoned at ${noticeTime} \n`,
        startTime: timeIn(noticeTime, "rebalance recommendation"),
      });
    },
    maintenance(body, now) {
      // A service without the path has no maintenance to tell.
      if (body === undefined) return quiet;
      const events: InterruptionEvent[] = [];
      const over: string[] = [];
      let problem: MetadataUnreadable | undefined;
      for (const item of itemsOf(body, "scheduled maintenance")) {
        try {
          if (ended.has(text(item, "State"))) over.push(text(item, "EventId"));
          else events.push(maintenanceEvent(item, now));
        } catch (error) {
          if (!(error instanceof MetadataUnreadable)) throw error;
          problem = error;
        }
      }
      return { events, over, ...(problem && { problem }) };
    },
    termination(body, now, bootId) {
      if (body?.trim() !== "Terminated") return quiet;
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

/** States of maintenance that will not happen any more. */
const ended: ReadonlySet<string> = new Set(["canceled", "completed"]);

function maintenanceEvent(item: Fields, now: number): InterruptionEvent {
  const [id, code, notBefore] = [text(item, "EventId"), text(item, "Code"), text(item, "NotBefore")];
  if (id === "") throw new MetadataUnreadable("the scheduled maintenance of the metadata service has no EventId");
  return {
    id,
    kind: "maintenance",
    monitor: "SCHEDULED_EVENT_MONITOR",
    instanceId: "",
    description: `${code} will occur between ${notBefore} and ${text(item, "NotAfter")} because ${text(item, "Description")}\n`,
    startTime: now,
    deadline: timeIn(notBefore, "scheduled maintenance"),
    ...(restartCodes.has(code) && { restarts: true }),
  };
}

function on(event: InterruptionEvent): MetadataNotice {
  return { events: [event], over: [] };
}

function documentOf(body: string, what: string): Fields {
  const document = objectOf(body);
  if (document === undefined) throw new MetadataUnreadable(`the ${what} of the metadata service is not a JSON object`);
  return document;
}

/** The items of a list. `null` is what Go's encoder makes of an empty one. */
function itemsOf(body: string, what: string): readonly Fields[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (cause) {
    throw new MetadataUnreadable(`the ${what} of the metadata service is not JSON`, { cause });
  }
  if (parsed === null) return [];
  if (!Array.isArray(parsed)) throw new MetadataUnreadable(`the ${what} of the metadata service is not a list`);
  return parsed.filter(isRecord);
}

function timeIn(value: string, what: string): number {
  const ms = timeOf(value);
  if (ms === undefined) throw new MetadataUnreadable(`the ${what} of the metadata service has no readable time: ${JSON.stringify(value)}`);
  return ms;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
