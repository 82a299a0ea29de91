/**
 * One history of nodes from one seed: two replicas, kubelets and users live through a storm, and everything must be true
 * afterwards.
 *
 *     node test/simulation/nodes-simulate.ts --seed 1 --runs 2000
 *     node test/simulation/nodes-simulate.ts --seed 42 --story
 */
import { parseArgs } from "node:util";
import { sleep } from "../../src/runtime/world.ts";
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { loadEc2 } from "../bed/node-world.ts";
import { live, report } from "./nodes-people.ts";
import { NodesReplica } from "./nodes-replica.ts";
import { NodesScene } from "./nodes-scene.ts";
import { forbidOriginals } from "./originals.ts";

export interface Outcome {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly hash: string;
  story(): string;
}

const stormMs = 6 * 60_000;
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
  const allow = forbidOriginals((what) => scene.history.broken("nothing in the world reaches for the machine", what));
  try {
    await play(scene);
  } finally {
    allow();
  }
  const { violations } = scene.history;
  return { seed, violations, hash: scene.history.hash(), story: () => scene.history.story() };
}

async function play(scene: NodesScene): Promise<void> {
  const { world, history } = scene;
  const replicas = new Replicas(scene);
  const [storms, everything] = [new AbortController(), new AbortController()];
  replicas.start();
  replicas.start();
  const ending = [live(scene, storms.signal), storm(scene, replicas, storms.signal)];
  const reporting = report(scene, everything.signal);
  await world.advance(stormMs);
  storms.abort(new Error("the storm is over"));
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

class Replicas {
  readonly #scene: NodesScene;
  #running: NodesReplica[] = [];
  #started = 0;
  #closed = false;

  constructor(scene: NodesScene) {
    this.#scene = scene;
  }

  all(): readonly NodesReplica[] {
    return this.#running;
  }

  start(): void {
    if (this.#closed) return;
    const replica = new NodesReplica(this.#scene, `replica-${++this.#started}`);
    this.#running.push(replica);
    replica.run(() => this.replace(replica));
  }

  replace(replica: NodesReplica): void {
    if (!this.#running.includes(replica)) return;
    this.#running = this.#running.filter((other) => other !== replica);
    this.#scene.world.clock.after(this.#scene.chance.between(1_000, 10_000), () => this.start());
  }

  close(): void {
    this.#closed = true;
    for (const replica of this.#running) replica.crash();
  }
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

/** Lets faults happen until the signal aborts, then lifts them all. */
async function storm(scene: NodesScene, replicas: Replicas, signal: AbortSignal): Promise<void> {
  const { chance, world, cluster, cloud, history } = scene;
  const somebody = () => chance.pick(replicas.all());
  const lasting = (longestMs: number, end: () => void) => world.clock.after(chance.between(2_000, longestMs), end);
  const happenings: readonly (() => void)[] = [
    () => {
      const replica = somebody();
      if (replica === undefined) return;
      history.tell("weather", `${replica.name} crashes`);
      replica.crash();
      replicas.replace(replica);
    },
    () => somebody()?.leave(),
    () => {
      const ms = chance.between(2_000, 30_000);
      history.tell("weather", `a replica stands still for ${Math.round(ms)} ms`);
      somebody()?.machine.stall(ms);
    },
    () => {
      const ms = Math.round(chance.between(-900_000, 900_000));
      history.tell("weather", `a replica's wall clock is set by ${ms} ms`);
      somebody()?.machine.jump(ms);
    },
    () => {
      const replica = somebody();
      const line = replica && (chance.happens(0.6) ? replica.kubeLine : replica.awsLine);
      if (line === undefined) return;
      line.partition = chance.pick(["silent", "refusing"] as const)!;
      history.tell("weather", `${replica?.name} is cut off from ${line === replica?.awsLine ? "AWS" : "the cluster"}`);
      lasting(40_000, () => line.heal());
    },
    () => {
      history.tell("weather", "watches are cut and the past is forgotten");
      cluster.cutWatches();
      cluster.compact();
    },
    () => {
      history.tell("weather", "the API server refuses requests");
      const match = ({ headers }: { headers: Readonly<Record<string, string>> }) => headers["user-agent"]?.startsWith("fairlead") ?? false;
      lasting(20_000, cluster.faults.add({ match, effect: { kind: "refuse", status: chance.pick([429, 500, 503])! }, probability: 0.5 }));
    },
    ...[0, 1, 2, 3].map(() => () => {
      const effect = chance.pick(effects)!;
      history.tell("weather", `AWS: ${JSON.stringify(effect)}`);
      const action = chance.happens(0.7) ? "ec2:*" : "ec2:DescribeInstanceTopology";
      const id = cloud.controls.faults.add({ action, effect, probability: chance.between(0.3, 1) });
      lasting(120_000, () => cloud.controls.faults.remove(id));
    }),
  ];
  while (!signal.aborted) {
    await sleep(world.clock, chance.between(2_000, 20_000), signal).catch(() => {});
    if (!signal.aborted) chance.pick(happenings)!();
  }
  history.tell("weather", "clears up");
  cluster.faults.clear();
  cloud.controls.faults.remove();
  for (const replica of replicas.all()) for (const line of [replica.kubeLine, replica.awsLine]) line.heal();
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { seed: { type: "string", default: "1" }, runs: { type: "string", default: "1" }, story: { type: "boolean", default: false } },
  });
  const [first, runs] = [Number(values.seed), Number(values.runs)];
  const started = performance.now();
  let broken = false;
  for (let seed = first; seed < first + runs && !broken; seed++) {
    const { violations, story } = await simulateNodes(seed);
    broken = violations.length > 0;
    if (values.story || broken) console.log(story());
    for (const violation of violations) console.log(`seed ${seed}: ${violation}`);
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (broken) process.exitCode = 1;
  else console.log(`${runs} histories from seed ${first} in ${seconds} s: no rule was broken`);
}
