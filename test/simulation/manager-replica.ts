/** One process of the controller manager, whole, on a machine of its own. */
import type { ControllerTable } from "../../src/commands/controller-manager/context.ts";
import { controllerTable } from "../../src/commands/controller-manager/controller-table.ts";
import { parseOptions } from "../../src/commands/controller-manager/flags.ts";
import { operate } from "../../src/commands/controller-manager/operate.ts";
import { ProcessReplica, type ReplicaScene, type Start } from "./process-replica.ts";

const flags = ["--cloud-provider=aws", "--secure-port=0", "--master=http://cluster", "--cloud-config=/etc/cloud"];

/** Where it runs, and what it is told. */
export interface ManagerScene extends ReplicaScene {
  readonly flags: readonly string[];
  /** Its cloud config. */
  readonly config: string;
}

export class ManagerReplica extends ProcessReplica<ManagerScene> {
  protected override operate({ host, ...start }: Start): Promise<void> {
    const { world, config } = this.scene;
    // Modules are loaded from files, and a world stands still for that.
    const table: ControllerTable = Object.fromEntries(
      Object.entries(controllerTable).map(([controller, make]) => [controller, (context) => world.holding(make(context))]),
    ) as ControllerTable;
    const files = { ...this.machine.files, read: async () => Buffer.from(config) };
    return operate({
      ...start,
      options: parseOptions([...flags, ...this.scene.flags]).values,
      version: "v0.0.0",
      host: { ...host, world: { ...this.machine, files } },
      table,
    });
  }
}
