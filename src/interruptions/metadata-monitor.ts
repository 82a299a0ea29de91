/** The metadata service of the machine this process runs on, asked every two seconds. Whatever it answers, or does not, ends nothing. */
import type { Metadata } from "../aws/metadata.ts";
import type { Nodes } from "../identity/node-view.ts";
import type { Source } from "../runtime/controller.ts";
import type { Host } from "../runtime/host.ts";
import { messageOf } from "../runtime/message-of.ts";
import { sleep } from "../runtime/world.ts";
import type { ActionMetrics } from "./action-metrics.ts";
import type { Inbox } from "./inbox.ts";
import { type MetadataMonitor, metadataPaths, metadataReaders } from "./metadata-events.ts";
import { monitorSource } from "./monitor-source.ts";

export interface MetadataMonitorParts {
  readonly host: Host;
  readonly metadata: Pick<Metadata, "get">;
  readonly node: string;
  readonly nodes: Nodes;
  readonly monitors: readonly MetadataMonitor[];
  readonly inbox: Inbox;
  readonly metrics: ActionMetrics;
  /** Called when it begins to ask. */
  readonly started?: (signal: AbortSignal) => void;
  /** Told when a monitor begins to fail. */
  readonly complain: (monitor: string) => void;
}

const periodMs = 2_000;
const names: Readonly<Record<MetadataMonitor, string>> = {
  spot: "SPOT_ITN_MONITOR",
  rebalance: "REBALANCE_RECOMMENDATION_MONITOR",
  maintenance: "SCHEDULED_EVENT_MONITOR",
  termination: "ASG_LIFECYCLE_MONITOR",
};

export class MetadataMonitors {
  /** Wakes the controller, by way of the inbox. */
  readonly source: Source;
  readonly #parts: MetadataMonitorParts;
  /** What each monitor fails of; absent while it works. */
  readonly #problems = new Map<MetadataMonitor, string>();
  readonly #told = new Set<string>();

  constructor(parts: MetadataMonitorParts) {
    this.#parts = parts;
    this.source = monitorSource("metadata service", parts.nodes, (signal) => void this.#run(signal));
  }

  /** Why something cannot be asked at the moment. */
  problem(): string | undefined {
    const [first] = this.#problems;
    return first && `${names[first[0]]}: ${first[1]}`;
  }

  /** Asks until the signal aborts. */
  async #run(signal: AbortSignal): Promise<void> {
    const { host, monitors, started } = this.#parts;
    started?.(signal);
    for (const monitor of monitors) host.log.info("Started monitoring for events", { monitor_type: names[monitor] });
    while (!signal.aborted) {
      await sleep(host.world.clock, periodMs, signal).catch(() => {});
      for (const monitor of monitors) if (!signal.aborted) await this.#ask(monitor, signal);
    }
  }

  async #ask(monitor: MetadataMonitor, signal: AbortSignal): Promise<void> {
    const { host, metadata, node, nodes, inbox, metrics, complain } = this.#parts;
    try {
      const text = await metadata.get(metadataPaths[monitor], signal);
      const { events, over, problem } = metadataReaders[monitor](text, host.world.clock.now(), nodes.get(node)?.bootId ?? "");
      for (const event of events) {
        if (this.#told.has(event.id)) continue;
        this.#told.add(event.id);
        // A machine may be told before its Node has joined: then it is asked for again at the next poll.
        inbox.take(node, event, monitor, (reached) => reached === "gone" && this.#told.delete(event.id));
      }
      if (over.length > 0) inbox.callOff(node, over);
      if (problem !== undefined) throw problem;
      this.#problems.delete(monitor);
    } catch (error) {
      if (signal.aborted) return;
      const problem = messageOf(error);
      const known = this.#problems.get(monitor) === problem;
      this.#problems.set(monitor, problem);
      metrics.error(names[monitor]);
      if (known) return;
      host.log.warn("There was a problem monitoring for events", { monitor_type: names[monitor], error });
      complain(names[monitor]);
    }
  }
}
