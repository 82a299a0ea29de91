/** The roles of the sidecars inside the controller: one driver, called without a socket, and a controller for each role. */
import type { Cloud } from "../../aws/cloud.ts";
import type { Controller } from "../../runtime/controller.ts";
import { ask, type ControllerSettings } from "../controller/context.ts";
import { madeVolume } from "../controller/made-volume.ts";
import { controllerMethods } from "../controller/methods.ts";
import { checkShape, planCreation } from "../controller/plan-create.ts";
import { controllerContext } from "../controller/service.ts";
import { exportApiMetrics, exportDetachMetrics } from "../metrics.ts";
import { attacher, attachmentGuard } from "./attacher.ts";
import type { RoleParts } from "./parts.ts";
import { provisioner } from "./provisioner.ts";
import { reclaimer } from "./reclaimer.ts";
import { resizer } from "./resizer.ts";
import { type Contents, snapshotter } from "./snapshotter.ts";

export interface BuiltInRoles extends Omit<RoleParts, "driver" | "checkCreation" | "madeVolume" | "snapshot"> {
  readonly cloud: Cloud;
  readonly controller: ControllerSettings;
  /** Undefined where the cluster knows nothing of snapshots. */
  readonly contents: Contents | undefined;
}

/** The controllers of all roles. They share what the driver remembers: tokens, device names, its own writes. */
export async function builtInRoles({ cloud, controller, contents, ...rest }: BuiltInRoles): Promise<readonly Controller[]> {
  const { host } = rest;
  const context = controllerContext(host, cloud, controller);
  exportApiMetrics(host.metrics, cloud.ledger);
  exportDetachMetrics(host.metrics, context.detachPending);
  const parts: RoleParts = {
    ...rest,
    driver: controllerMethods(context),
    checkCreation: (request) => void planCreation(request, checkShape(request), context.settings.tags, () => {}),
    madeVolume: (name, rpc) => madeVolume(name, rpc, context),
    snapshot: (id, rpc) => cloud.snapshots.lookup(id, ask(rpc)),
  };
  return [
    provisioner(parts),
    reclaimer(parts),
    attacher(parts),
    attachmentGuard(parts),
    resizer(parts),
    ...(contents === undefined ? [] : [snapshotter({ ...parts, contents })]),
  ];
}
