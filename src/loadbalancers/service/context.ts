/** What every part of the Service controller works with. */

import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import type { EventRecorder } from "../../identity/event-reasons.ts";
import type { Nodes } from "../../identity/node-view.ts";
import type { KubeClient } from "../../kube/client.ts";
import { refusalIn } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { ClaimBook } from "../groups/claim-book.ts";
import type { Inventory } from "../inventory.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import type { SeenService, Services } from "../service-state.ts";
import type { Memory } from "./memory.ts";
import type { SyncMetrics } from "./metrics.ts";
import type { Report } from "./report.ts";
import type { LoadBalancerSettings } from "./view.ts";

/** What the controller is given. */
export interface ServiceParts {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  readonly services: Services;
  readonly nodes: Nodes;
  readonly inventory: Inventory;
  /** What all doors of the process need from the nodes. */
  readonly book: ClaimBook;
  readonly settings: LoadBalancerSettings;
  /** Services reconciled at the same time. */
  readonly concurrency: number;
  /** Nothing is done; what would be is said in Events. */
  readonly dryRun: boolean;
}

/** That, and what the controller keeps. */
export interface ServiceContext extends Pick<ServiceParts, "host" | "inventory" | "book" | "settings" | "nodes"> {
  readonly memory: Memory;
  readonly report: Report;
  readonly metrics: SyncMetrics;
}

/** One Service being worked on. */
export interface Job {
  readonly key: string;
  readonly service: SeenService;
  readonly owner: LoadBalancerOwner;
  readonly ask: Ask;
}

/** How soon something that AWS needs time for is looked at again. */
export const waitMs = 5_000;
/** How soon a Service is looked at again that was not as it was seen: by then its change has come. */
export const staleMs = 1_000;
export const changedMeanwhile = "the Service has changed in the meantime";

/** Says in the log what was done. */
export function logStep({ host }: Pick<ServiceContext, "host">, key: string): (step: Step) => void {
  return ({ what, why }) => host.log.info(what, { why, service: key });
}

/** What was being done when it failed, in the words users know. */
export async function stage<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw refusalIn(cause) ? cause : new Error(`${what}: ${messageOf(cause)}`, { cause });
  }
}
