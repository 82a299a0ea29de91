/** DeleteSnapshot and ListSnapshots. */
import { isNotFound } from "../../aws/described.ts";
import { deleteSnapshot as deleteSnapshotAction } from "../../aws/ec2-actions.ts";
import { sleep } from "../../runtime/world.ts";
import { CsiError, invalidArgument, wrapped } from "../csi/errors.ts";
import type { DeleteSnapshotRequest, ListSnapshotsRequest, SnapshotAnswer } from "../csi/messages.ts";
import { isSnapshotId, isVolumeId, tagKeys } from "../names.ts";
import { lagMs } from "../poll.ts";
import { isMarked } from "../tags.ts";
import { ask, type ControllerContext, type Rpc } from "./context.ts";
import { snapshotAnswer } from "./create-snapshot.ts";

export async function deleteSnapshot({ snapshotId }: DeleteSnapshotRequest, rpc: Rpc, context: ControllerContext): Promise<void> {
  if (snapshotId === "") throw invalidArgument("Snapshot ID not provided");
  if (!isSnapshotId(snapshotId)) return;
  await context.inFlight.run(snapshotId, `DeleteSnapshot for Snapshot ${snapshotId} is already in progress`, async () => {
    try {
      if (!(await isOursToDelete(snapshotId, rpc, context))) return;
      await context.cloud.call(deleteSnapshotAction, { SnapshotId: snapshotId }, { ...ask(rpc), target: snapshotId, repeatable: true });
      context.deleted.note(snapshotId);
    } catch (error) {
      if (isNotFound(error, snapshotId)) return;
      throw wrapped(`Could not delete snapshot ID ${JSON.stringify(snapshotId)}`, error);
    }
  });
}

/** False when it is gone. Refused when it carries no mark. */
async function isOursToDelete(id: string, rpc: Rpc, context: ControllerContext): Promise<boolean> {
  let found = await context.cloud.snapshots.lookup(id, ask(rpc));
  if (found.kind === "not-found") {
    if (context.deleted.has(id)) return false;
    // It may have been made a moment ago.
    await sleep(context.host.world.clock, lagMs, rpc.signal);
    found = await context.cloud.snapshots.lookup(id, ask(rpc));
    if (found.kind === "not-found") return false;
  }
  if (found.kind === "absent") throw new CsiError("Internal", "EC2's answer lacks it");
  if (isMarked(found.snapshot.tags, context.settings.tags.clusterId)) return true;
  throw new CsiError(
    "FailedPrecondition",
    `it carries none of the tags ${tagKeys.driver}, ${tagKeys.snapshotName} and is left alone: tag it to have it deleted, or delete it by hand`,
  );
}

export interface SnapshotList {
  readonly snapshots: readonly SnapshotAnswer[];
  readonly nextToken: string;
}

/** EC2's smallest page. */
const smallestPage = 5;
const nothing: SnapshotList = { snapshots: [], nextToken: "" };

export async function listSnapshots(request: ListSnapshotsRequest, rpc: Rpc, context: ControllerContext): Promise<SnapshotList> {
  if (request.snapshotId !== "") return oneSnapshot(request.snapshotId, rpc, context);
  const { maxEntries, sourceVolumeId } = request;
  if (maxEntries < 0) throw invalidArgument(`max_entries is ${maxEntries}, not 0 or more`);
  if (sourceVolumeId !== "" && !isVolumeId(sourceVolumeId)) return nothing;
  const { token, skip } = parseToken(request.startingToken);
  const filters = [
    { name: "tag-key", values: [tagKeys.snapshotName] },
    ...(sourceVolumeId === "" ? [] : [{ name: "volume-id", values: [sourceVolumeId] }]),
  ];
  const size = maxEntries === 0 ? undefined : Math.max(maxEntries, smallestPage);
  const page = await context.cloud.snapshots.page(filters, size, token || undefined, ask(rpc)).catch((error: unknown) => {
    throw wrapped("Could not list snapshots", error);
  });
  const rest = page.items.slice(skip);
  const taken = maxEntries === 0 ? rest : rest.slice(0, maxEntries);
  const isCut = taken.length < rest.length;
  return {
    snapshots: taken.map(snapshotAnswer),
    nextToken: isCut ? tokenOf(token, skip + taken.length) : (page.nextToken ?? ""),
  };
}

async function oneSnapshot(id: string, rpc: Rpc, { cloud }: ControllerContext): Promise<SnapshotList> {
  if (!isSnapshotId(id)) return nothing;
  const found = await cloud.snapshots.lookup(id, ask(rpc)).catch((error: unknown) => {
    throw wrapped(`Could not get snapshot ID ${JSON.stringify(id)}`, error);
  });
  return found.kind === "found" ? { snapshots: [snapshotAnswer(found.snapshot)], nextToken: "" } : nothing;
}

/** A place inside one of EC2's pages: how many of it were given out already, and the token that leads to it. */
function tokenOf(token: string, skip: number): string {
  return `${skip}+${token}`;
}

function parseToken(text: string): { readonly token: string; readonly skip: number } {
  const [, skip, token] = /^(\d+)\+(.*)$/s.exec(text) ?? [];
  return skip === undefined ? { token: text, skip: 0 } : { token: token!, skip: Number(skip) };
}
