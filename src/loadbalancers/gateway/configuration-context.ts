/** What the controller of GatewayClasses and configurations works with. */
import type { Host } from "../../runtime/host.ts";
import type { FollowedSecrets } from "../followed-secrets.ts";
import type { ClassReport, ConfigurationReport } from "./configuration-report.ts";
import type { Flavour } from "./flavours.ts";
import type { Objects } from "./seen.ts";

export interface ConfigurationContext {
  readonly host: Host;
  /** The kinds of Gateway whose definitions are served. */
  readonly flavours: readonly Flavour[];
  /** With the routes of all of them. */
  readonly objects: Objects;
  readonly report: { readonly classes: ClassReport; readonly configurations: ConfigurationReport };
  readonly secrets: FollowedSecrets;
}
