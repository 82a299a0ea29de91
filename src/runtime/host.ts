import type { Registry } from "prom-client";
import type { Log } from "./log.ts";
import type { World } from "./world.ts";

/** What every long-lived part of a process stands on. One per process object, so that two replicas can share one Node process. */
export interface Host {
  readonly world: World;
  readonly log: Log;
  readonly metrics: Registry;
}
