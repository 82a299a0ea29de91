/**
 * Interruptions that a person asks for, to see what would happen: an annotation on a Node, which handlers of both modes take for a notice.
 * What follows is real, pods are evicted; only AWS has nothing to do with it.
 */
import type { Nodes, SeenNode } from "../identity/node-view.ts";
import type { Source } from "../runtime/controller.ts";
import type { Host } from "../runtime/host.ts";
import { type EventKind, eventKinds, type InterruptionEvent, spotNoticeMs } from "./event.ts";
import type { Inbox } from "./inbox.ts";

/** What the annotation holds. */
export interface SimulationRequest {
  readonly kind: EventKind;
  /** Unique: the same one is never taken up twice. */
  readonly id: string;
  /** When it was asked for, in milliseconds. */
  readonly at: number;
}

/** How long an instance would have from each kind of notice; the others give no time. */
const noticeMs: Readonly<Partial<Record<EventKind, number>>> = {
  spot: spotNoticeMs,
  reservation: spotNoticeMs,
  "capacity-block": 10 * 60_000,
  maintenance: 60 * 60_000,
};

/** The event that a request stands for; undefined when it cannot be read. */
export function simulatedEvent(annotation: string): InterruptionEvent | undefined {
  const request = readRequest(annotation);
  if (request === undefined) return undefined;
  const { kind, id, at } = request;
  const ms = noticeMs[kind];
  return {
    id: `simulated-${kind}-${id}`,
    kind,
    monitor: "SQS_MONITOR",
    instanceId: "",
    description: `${eventKinds[kind].reason}, as asked for by fairlead interruptions simulate`,
    startTime: at,
    ...(ms !== undefined && { deadline: at + ms }),
    simulated: true,
  };
}

/** The annotation that asks for it. */
export function simulationRequest(request: SimulationRequest): string {
  return JSON.stringify(request);
}

/** Wakes the controller when somebody has asked. */
export function simulatedSource(nodes: Nodes, inbox: Inbox, { log }: Host): Source {
  const refused = new Set<string>();
  const take = (node: SeenNode) => {
    const { simulatedInterruption: asked, metadata } = node;
    if (asked === undefined) return;
    const event = simulatedEvent(asked);
    if (event !== undefined) {
      inbox.take(metadata.name, event, "simulation", () => {});
      return;
    }
    if (refused.has(asked)) return;
    refused.add(asked);
    log.warn("the request for a simulated interruption cannot be read", { node: metadata.name, request: asked });
  };
  return {
    name: "simulated interruptions",
    async start(_, signal) {
      const unsubscribe = nodes.subscribe((_before, node) => node && take(node));
      signal.addEventListener("abort", unsubscribe, { once: true });
    },
  };
}

function readRequest(annotation: string): SimulationRequest | undefined {
  try {
    const { kind, id, at } = JSON.parse(annotation) as Partial<SimulationRequest>;
    const sound = typeof kind === "string" && Object.hasOwn(eventKinds, kind) && typeof id === "string" && typeof at === "number";
    return sound ? { kind: kind as EventKind, id, at } : undefined;
  } catch {
    return undefined;
  }
}
