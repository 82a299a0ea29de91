/** The AWS account before and after. */
import type { Cloud } from "../cloud/cloud.ts";
import { compareSnapshots } from "../cloud/controls/compare.ts";
import type { Snapshot } from "../cloud/store.ts";
import type { Objection } from "./scene.ts";

/** Objects to everything in the account that is not as it was. */
export function accountAsBefore(before: Snapshot, { controls }: Pick<Cloud, "controls">): Objection {
  const now = controls.snapshot();
  const left = compareSnapshots(before, now).filter(({ table, id }) => !isRemembered(table, now[table]?.[id]));
  return left.length === 0 ? undefined : left.map(({ table, id, change }) => `${table} ${id} ${change}`).join(", ");
}

/** What AWS makes or remembers by itself, and what nobody can delete. */
const rememberedTables: ReadonlySet<string> = new Set([
  // Made with the first load balancer of an account, for good.
  "iam/service-linked-roles",
  "autoscaling/activities",
  // Their names are free again after a minute.
  "sqs/deleted-queues",
  "ec2/notices",
]);

/** Machines and NAT gateways are shown for a while after they are gone. */
function isRemembered(table: string, record: object | undefined): boolean {
  if (rememberedTables.has(table)) return true;
  const { state } = (record ?? {}) as { readonly state?: string };
  return (table === "ec2/instances" && state === "terminated") || (table === "ec2/nat-gateways" && state === "deleted");
}
