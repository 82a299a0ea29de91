/**
 * Many claims at once, with EC2's documented request limits: what it took.
 *
 *   node test/bed/claims-at-once.ts 5000 600      so many claims on so many machines in three zones, of which one is used
 */
import { createRequest, publishRequest, volumeWorld } from "./volume-world.ts";

/** EC2's documented buckets of calls that change something, and of those that describe. */
export const write = { capacity: 100, refillPerSecond: 5 };
const read = { capacity: 100, refillPerSecond: 20 };
export const writes = ["CreateVolume", "AttachVolume", "DetachVolume", "DeleteVolume"];
export const documentedBuckets = Object.fromEntries([
  ...writes.map((action) => [`ec2:${action}`, write] as const),
  ["ec2:Describe*", read] as const,
]);

export interface Taken {
  /** Virtual. */
  readonly seconds: number;
  /** What the limits alone take for the slowest kind of call. */
  readonly limitSeconds: number;
  readonly done: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly throttled: number;
  readonly describes: Readonly<Record<string, number>>;
  readonly left: number;
}

/** Every claim is made, attached, detached and deleted, all at the same time. */
export async function claimsAtOnce(claims: number, machines: number): Promise<Taken> {
  const world = await volumeWorld({ nodes: machines, settings: { buckets: documentedBuckets } });
  const nodes = world.nodes.filter(({ zone }) => zone === world.nodes[0]!.zone);
  const { clock } = world.world;
  const begun = clock.monotonic();
  const life = async (index: number) => {
    const node = nodes[index % nodes.length]!;
    const created = await again(() =>
      world.begin<{ volume: { volumeId: string } }>("CreateVolume", createRequest(`pvc-${index}`, node.zone)),
    );
    const { volumeId } = created.volume;
    await again(() => world.begin("ControllerPublishVolume", publishRequest(volumeId, node.id)));
    await again(() => world.begin("ControllerUnpublishVolume", { volumeId, nodeId: node.id }));
    await again(() => world.begin("DeleteVolume", { volumeId }));
  };
  let ended = 0;
  for (let index = 0; index < claims; index++) void life(index).then(() => ended++);
  await world.world.runUntil(() => ended === claims, 4 * 3_600_000, "every claim has lived");
  const seconds = (clock.monotonic() - begun) / 1000;
  const counts = world.aws.controls.journal.counts();
  const throttledOf = (action: string) => counts[`ec2:${action}`]?.RequestLimitExceeded ?? 0;
  await world.world.advance(10_000);
  return {
    seconds,
    limitSeconds: (claims - write.capacity) / write.refillPerSecond,
    done: Object.fromEntries(writes.map((action) => [action, counts[`ec2:${action}`]?.ok ?? 0])),
    calls: writes.reduce((sum, action) => sum + world.calls(`ec2:${action}`), 0),
    throttled: writes.reduce((sum, action) => sum + throttledOf(action), 0),
    describes: Object.fromEntries(["DescribeVolumes", "DescribeInstances"].map((action) => [action, world.calls(`ec2:${action}`)])),
    left: world.volumes.length,
  };
}

/** As the sidecars do: what failed is asked for again. */
async function again<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      // The next answer is to the same question.
    }
  }
}

if (import.meta.main) {
  const [claims = 5_000, machines = 600] = process.argv.slice(2).map(Number);
  console.log(await claimsAtOnce(claims, machines));
  console.log(`${Math.round(process.resourceUsage().maxRSS / 1024)} MB at most, with the simulated account in the same process`);
}
