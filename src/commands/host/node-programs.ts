/** The programs that `fairlead node` can host, one per node. To add one is to add a row. */
import type { HostedPrograms } from "./hosted.ts";

export const nodePrograms: HostedPrograms = {};
