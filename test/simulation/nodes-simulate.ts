/**
 * One history of nodes from one seed: two replicas, kubelets and users live through faults, and everything must be true
 * afterwards.
 */

import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { loadEc2 } from "../bed/node-world.ts";
import { type FaultMix, injectFaults } from "./faults.ts";
import { ManagerReplica } from "./manager-replica.ts";
import { NodesScene } from "./nodes-scene.ts";
import { live, report } from "./nodes-users.ts";
import { type Outcome, played } from "./outcome.ts";
import { Replicas } from "./replicas.ts";
import { tagSecondTable } from "./route-tables.ts";

const faultsMs = 6 * 60_000;
/**
 * What is gone without a trace is deleted when its Node is ten minutes old and it was missed for five; to a replica whose
 * wall clock was set back, the Node is a quarter of an hour younger.
 */
const patienceMs = 45 * 60_000;
/** In order, and then nothing to do: no Node is written to. */
const quietMs = 5 * 60_000;

/** Plays the history of a seed to its end. */
export async function simulateNodes(seed: number): Promise<Outcome> {
  await loadEc2();
  const scene = new NodesScene(seed);
  return played(seed, scene.history, () => play(scene));
}

async function play(scene: NodesScene): Promise<void> {
  const { world, history } = scene;
  const [faulty, everything] = [new AbortController(), new AbortController()];
  const replicas = new Replicas(scene, (name) => new ManagerReplica(scene, name));
  const ending = [
    live(scene, faulty.signal),
    tagSecondTable(scene, faulty.signal),
    injectFaults(scene, replicas, faultMixOf(scene), faulty.signal),
  ];
  const reporting = report(scene, everything.signal);
  await world.advance(faultsMs);
  faulty.abort(new Error("the faults are over"));
  await world.advance(0);
  await Promise.all(ending);
  for (let waited = 0; waited < patienceMs && scene.differences().length > 0; waited += 5_000) await world.advance(5_000);
  for (const difference of scene.differences()) history.broken("every Node tells the truth in the end", difference);
  const quietFrom = world.clock.monotonic() + 5_000;
  await world.advance(quietMs);
  if (scene.lastWriteAt > quietFrom) history.broken("what is in order is left alone", `a Node was written to at ${scene.lastWriteAt}`);
  for (const difference of scene.differences()) history.broken("order lasts", difference);
  everything.abort(new Error("the world ends"));
  await world.advance(0);
  await reporting;
  replicas.close();
  scene.cluster.close();
}

/** What AWS's bad days look like. */
const effects: readonly Effect[] = [
  { kind: "throttle" },
  { kind: "lose-answer" },
  { kind: "cut" },
  { kind: "fail", code: "UnauthorizedOperation", status: 403 },
  { kind: "fail", code: "InternalError", status: 500 },
  { kind: "fail", code: "RequestExpired", status: 400 },
  { kind: "stale", ageMs: 30_000 },
  { kind: "stale", ageMs: 120_000 },
];

function faultMixOf({ chance }: NodesScene): FaultMix {
  const trouble = () => ({
    effect: chance.pick(effects)!,
    action: chance.happens(0.7) ? "ec2:*" : "ec2:DescribeInstanceTopology",
    probability: chance.between(0.3, 1),
  });
  return { agent: "fairlead", aws: [trouble, trouble, trouble, trouble, trouble, trouble], awsMs: 120_000, maxPauseMs: 20_000 };
}
