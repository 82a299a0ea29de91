import type { Registry } from "prom-client";
import { counter, gauge } from "../runtime/metrics.ts";

/** The numbers by which an informer's health is seen. */
export interface InformerMetrics {
  relisted(): void;
  reconnected(): void;
  stalled(): void;
  malformed(): void;
  handlerFailed(): void;
  synced(): void;
  /** Not connected: what is known may be old. `nowMs` is kept from the first of several calls. */
  stale(nowMs: number): void;
  fresh(): void;
  objects(count: number): void;
  readonly staleSinceMs: number | undefined;
}

/** The metrics of one informer, labelled with its name. */
export function informerMetrics(registry: Registry, informer: string): InformerMetrics {
  const labels = { informer };
  const count = (name: string, help: string) => {
    const family = counter(registry, { name: `fairlead_informer_${name}_total`, help, labels: ["informer"] });
    family.inc(labels, 0);
    return () => family.inc(labels);
  };
  const level = (name: string, help: string) => {
    const family = gauge(registry, { name: `fairlead_informer_${name}`, help, labels: ["informer"] });
    family.set(labels, 0);
    return (value: number) => family.set(labels, value);
  };
  const synced = level("synced", "1 once everything that existed at the start is known.");
  const staleSince = level("stale_since_seconds", "Unix time since when the watch is down; 0 while it is up.");
  let staleSinceMs: number | undefined;
  return {
    relisted: count("relists", "Lists after the first one."),
    reconnected: count("reconnects", "Watches opened after the first one."),
    stalled: count("stalls", "Watches abandoned because no byte came."),
    malformed: count("malformed_lines", "Watches abandoned because of a broken or unreadable line."),
    handlerFailed: count("handler_failures", "Handlers, projections and indexes that threw."),
    objects: level("objects", "Objects known."),
    synced: () => synced(1),
    stale(nowMs) {
      staleSinceMs ??= nowMs;
      staleSince(staleSinceMs / 1000);
    },
    fresh() {
      staleSinceMs = undefined;
      staleSince(0);
    },
    get staleSinceMs() {
      return staleSinceMs;
    },
  };
}
