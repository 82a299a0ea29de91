/** What the calls of the node service share. */
import type { Host } from "../../runtime/host.ts";
import type { InFlight } from "../in-flight.ts";
import type { LimitSettings, NodeDisks } from "../limits.ts";
import type { System } from "./system.ts";

export interface NodeSettings {
  readonly legacyXfs: boolean;
  readonly limits: LimitSettings;
}

/** Where the node is, and what it has. */
export interface NodeFacts extends NodeDisks {
  readonly instanceId: string;
  readonly region: string;
  readonly zone: string;
  readonly outpostArn: string | undefined;
}

export interface NodeContext {
  readonly host: Host;
  readonly system: System;
  readonly settings: NodeSettings;
  readonly inFlight: InFlight;
  /** As they are now, as far as that can be told. */
  facts(signal: AbortSignal): Promise<NodeFacts>;
}

/** Does the work unless something is being done to the volume already. */
export function exclusively<T>(key: string, volumeId: string, { inFlight }: NodeContext, work: () => Promise<T>): Promise<T> {
  return inFlight.run(key, `An operation with the given volume="${volumeId}" is already in progress`, work);
}
