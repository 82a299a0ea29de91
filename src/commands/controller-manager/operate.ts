import type { Logs } from "../../runtime/logs.ts";
import type { World } from "../../runtime/world.ts";
import type { Options } from "./flags.ts";

export interface Operation {
  readonly options: Options;
  /** As reported, which the user may have overridden. */
  readonly version: string;
  readonly world: World;
  readonly logs: Logs;
  readonly stop: AbortSignal;
}

export async function operate(operation: Operation): Promise<void> {
  operation.logs.log.info("not yet");
}
