/** What the factory of a controller manager's controller is given besides what every controller of a process is given. */
import type { Enabled, ProcessContext } from "../../process/program.ts";
import type { CloudConfig } from "./cloud-config.ts";
import type { CanonicalName } from "./controller-names.ts";
import type { Options } from "./flags.ts";

export interface ControllerContext extends ProcessContext {
  readonly config: CloudConfig;
  /** `undefined` where nobody said: the controller decides. */
  readonly options: Options;
}

/** Makes the controllers of one name. */
export type ControllerFactory = (context: ControllerContext) => Promise<Enabled>;

/** What this build carries. */
export type ControllerTable = Readonly<Partial<Record<CanonicalName, ControllerFactory>>>;
