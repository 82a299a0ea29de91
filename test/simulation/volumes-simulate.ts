/**
 * One history of volumes from one seed: claims come, move between nodes, grow, are snapshotted and go, while a driver that may
 * die after any call to AWS serves them, answers get lost and reads lag. The claims are driven as the sidecars drive them.
 */
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { terminate } from "../../src/sandbox/cloud/ec2/instance-lifecycle.ts";
import { VolumeWorld } from "../bed/volume-world.ts";
import { chanceOf } from "./chance.ts";
import { History } from "./history.ts";
import { type Outcome, played } from "./outcome.ts";
import { simulateRoles } from "./roles-simulate.ts";
import { Claim } from "./volumes-claims.ts";
import { FallibleDriver } from "./volumes-driver.ts";

const faultsMs = 5 * 60_000;
/** When the faults are over, a claim that is to go is gone after this long. */
const patienceMs = 40 * 60_000;
/** Reads lag by less than the driver reckons with. */
const staleness = { maxAgeMs: 4_000, probability: 0.3 };

const effects: readonly Effect[] = [
  { kind: "throttle" },
  { kind: "lose-answer" },
  { kind: "lose-answer" },
  { kind: "cut" },
  { kind: "fail", code: "InternalError", status: 500 },
  { kind: "fail-afterwards", code: "InternalError", status: 500 },
  { kind: "delay", ms: 20_000 },
];

/** Plays the history of a seed to its end: of the driver alone, or, by even seeds, with the roles of the sidecars in its process. */
export async function simulateVolumes(seed: number): Promise<Outcome> {
  return seed % 2 === 0 ? simulateRoles(seed) : simulateDriver(seed);
}

async function simulateDriver(seed: number): Promise<Outcome> {
  const world = new VolumeWorld({ seed, nodes: 6, settings: { staleness } });
  await world.load();
  const history = new History(world.world.clock);
  return played(seed, history, () => play(world, history));
}

async function play(scene: VolumeWorld, history: History): Promise<void> {
  const { world, aws } = scene;
  const chance = chanceOf(world.random);
  const nodes = scene.nodes.filter(({ zone }) => zone === scene.nodes[0]!.zone);
  // Somebody else's, without any mark: whatever a claim says, it stays.
  const foreign = scene.volumes.map(({ id }) => id);
  const driver = new FallibleDriver(scene, history, chance);
  watch(scene, history);
  const faulty = new AbortController();
  const trouble = injectFaults(scene, history, chance, faulty.signal);
  const wish = { isWanted: true };
  const lives = Array.from({ length: 6 }, async (_, index) => {
    for (let generation = 1; wish.isWanted; generation++) {
      await new Claim(`pvc-${index}-${generation}`, { scene, driver, history, chance, nodes, wish }).live();
    }
  });
  const lost = chance.happens(0.5) ? nodes[0] : undefined;
  if (lost !== undefined) {
    world.clock.after(chance.between(20_000, faultsMs), () => {
      history.tell("AWS", `${lost.id} is terminated`);
      terminate(aws.account.ec2, aws.account.ec2.instances.get(lost.id)!);
    });
  }
  await world.advance(faultsMs);
  faulty.abort();
  driver.crashes = false;
  wish.isWanted = false;
  history.tell("faults", "are over");
  let ended = 0;
  for (const life of lives) {
    void life.then(() => {
      ended++;
    });
  }
  await world.runUntil(() => ended === lives.length, patienceMs, "every claim is gone");
  await world.advance(60_000);
  await trouble;
  for (const { id, tags } of scene.volumes.filter((volume) => !foreign.includes(volume.id))) {
    history.broken("no volume without an owner remains", `${id} of ${tags.CSIVolumeName}`);
  }
  for (const { id, tags } of aws.account.ec2.snapshots.values()) {
    history.broken("no snapshot without an owner remains", `${id} of ${tags.CSIVolumeSnapshotName}`);
  }
}

/** What must be true after every change of the account. */
function watch(scene: VolumeWorld, history: History): void {
  const told = new Set<string>();
  const say = (rule: string, how: string) => {
    if (!told.has(how)) history.broken(rule, how);
    told.add(how);
  };
  const look = () => {
    const names = new Map<string, string>();
    for (const { id, state, attachments, spec, tags } of scene.aws.account.ec2.volumes.values()) {
      if (!spec.multiAttach && attachments.length > 1) {
        say("a volume is attached to one instance at a time", `${id} to ${attachments.map(({ instanceId }) => instanceId).join(", ")}`);
      }
      const name = tags.CSIVolumeName;
      if (name === undefined || state === "deleting") continue;
      if (names.has(name)) say("a name has one volume at a time", `${name} has ${names.get(name)} and ${id}`);
      names.set(name, id);
    }
    scene.world.clock.after(500, look);
  };
  look();
}

/** AWS's bad moments, one after the other. */
async function injectFaults(scene: VolumeWorld, history: History, chance: ReturnType<typeof chanceOf>, signal: AbortSignal): Promise<void> {
  const { clock } = scene.world;
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      clock.after(ms, resolve);
    });
  while (!signal.aborted) {
    const effect = chance.pick(effects)!;
    const action = chance.pick([
      "ec2:*",
      "ec2:CreateVolume",
      "ec2:AttachVolume",
      "ec2:DetachVolume",
      "ec2:DeleteVolume",
      "ec2:CreateSnapshot",
      "ec2:EnableFastSnapshotRestores",
    ])!;
    history.tell("fault", `${effect.kind} ${action}`);
    const id = scene.aws.controls.faults.add({ action, effect, probability: chance.between(0.3, 1) });
    await pause(chance.between(2_000, 20_000));
    scene.aws.controls.faults.remove(id);
    await pause(chance.between(1_000, 20_000));
  }
}
