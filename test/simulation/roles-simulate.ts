/**
 * One history of the built-in roles from one seed: two replicas, each with provisioner, attacher, resizer, snapshotter, reclaimer and
 * volume labels, serve claims through faults of AWS, of the API server and of themselves; then everything that is wanted must stand,
 * and when the last claim is gone nothing is left but what is to be retained.
 */
import { flagsOf } from "../../src/commands/ebs-csi-driver/flags.ts";
import { operateRoles } from "../../src/commands/ebs-csi-driver/roles.ts";
import type { DriverValues } from "../../src/commands/ebs-csi-driver/validate.ts";
import { parseFlags } from "../../src/runtime/flags.ts";
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import "../../src/volumes/labels/volume-labels.ts";
import "../../src/volumes/roles/roles.ts";
import "../../src/volumes/roles/snapshotter.ts";
import { sleep } from "../../src/runtime/world.ts";
import { loadClients } from "../bed/service-world.ts";
import { crashAfterWrites } from "./crash-after-writes.ts";
import { comeToNothing, comeToOrder, type EndingTimes } from "./ending.ts";
import { type FaultMix, injectFaults } from "./faults.ts";
import { type Outcome, played } from "./outcome.ts";
import { ProcessReplica, type Start } from "./process-replica.ts";
import { Replicas } from "./replicas.ts";
import { administrate, loseMachines, prepare, runCluster } from "./roles-cluster.ts";
import { RolesScene } from "./roles-scene.ts";
import { deleteAll, deleteRetained, tidyUp, useVolumes } from "./roles-users.ts";

const faultsMs = 5 * 60_000;
const times: EndingTimes = { patienceMs: 60 * 60_000, restMs: 60_000, quietMs: 6 * 60_000 };

const { values } = parseFlags(flagsOf("controller"), ["--built-in-roles", "--volume-labels", "--k8s-tag-cluster-id=simulated"]);

class RolesReplica extends ProcessReplica<RolesScene> {
  protected override operate({ host, ...start }: Start): Promise<void> {
    const environment = { ...this.machine.environment, AWS_REGION: this.scene.cloud.account.region };
    const life = { ...start, host: { ...host, world: { ...host.world, environment } }, version: "v0.0.0" };
    return operateRoles(values as DriverValues, life, "http://cluster");
  }
}

/** Plays the history of a seed to its end. */
export async function simulateRoles(seed: number): Promise<Outcome> {
  await loadClients();
  const scene = new RolesScene(seed);
  await prepare(scene);
  return played(seed, scene.history, () => play(scene));
}

async function play(scene: RolesScene): Promise<void> {
  const { world } = scene;
  const [faulty, everything] = [new AbortController(), new AbortController()];
  const replicas = new Replicas(scene, (name) => new RolesReplica(scene, name));
  const lasting = [runCluster(scene, everything.signal), lookAround(scene, everything.signal)];
  const actors = [useVolumes, administrate, loseMachines].map((act) => act(scene, faulty.signal));
  const faults = injectFaults(scene, replicas, faultMixOf(scene, replicas), faulty.signal);
  await world.advance(faultsMs);
  faulty.abort(new Error("the faults are over"));
  await world.advance(0);
  await Promise.all([...actors, faults]);
  scene.onWrite = () => {};
  scene.cloud.controls.change({ keys: ["*"], quotas: { volumeStorageTiB: 50 } });
  await tidyUp(scene);
  await comeToOrder(scene, times);
  await deleteAll(scene);
  await world.advance(60_000);
  await deleteRetained(scene);
  await comeToNothing(scene, times);
  everything.abort(new Error("the world ends"));
  await world.advance(0);
  await Promise.all(lasting);
  replicas.close();
  scene.cluster.close();
}

/** Looks every few seconds whether all is as it must be at every moment. */
async function lookAround(scene: RolesScene, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    scene.look("a while");
    await sleep(scene.world.clock, 2_000, signal).catch(() => {});
  }
}

/** What AWS's bad days look like. */
const effects: readonly Effect[] = [
  { kind: "throttle" },
  { kind: "lose-answer" },
  { kind: "lose-answer" },
  { kind: "cut" },
  { kind: "delay", ms: 3_000 },
  { kind: "fail", code: "InternalError", status: 500 },
  { kind: "fail-afterwards", code: "InternalError", status: 500 },
  { kind: "fail", code: "UnauthorizedOperation", status: 403 },
];
const actions = [
  "ec2:*",
  "ec2:Describe*",
  "ec2:CreateVolume",
  "ec2:CreateVolume",
  "ec2:AttachVolume",
  "ec2:DetachVolume",
  "ec2:DeleteVolume",
  "ec2:ModifyVolume",
  "ec2:CreateSnapshot",
  "ec2:DeleteSnapshot",
  "ec2:EnableFastSnapshotRestores",
];

function faultMixOf(scene: RolesScene, replicas: Replicas<RolesReplica>): FaultMix {
  const { chance, world, cloud, history } = scene;
  const trouble = () => ({ effect: chance.pick(effects)!, action: chance.pick(actions)!, probability: chance.between(0.2, 1) });
  const crashes = crashAfterWrites(scene, replicas);
  const forAWhile = (what: string, begin: object, end: object) => () => {
    history.tell("faults", what);
    cloud.controls.change(begin);
    world.clock.after(chance.between(5_000, 60_000), () => cloud.controls.change(end));
  };
  const locked = forAWhile("the key cannot be used", { keys: [] }, { keys: ["*"] });
  const full = forAWhile("the quota is met", { quotas: { volumeStorageTiB: 0.001 } }, { quotas: { volumeStorageTiB: 50 } });
  const aws = [trouble, trouble, trouble, trouble, trouble, trouble];
  return { agent: "fairlead", aws, awsMs: 60_000, maxPauseMs: 15_000, own: [crashes, crashes, crashes, locked, full] };
}
