/** One history from one seed: a world with two replicas lives through faults, and must be in order afterwards. */
import type { Informer } from "../../src/kube/informer.ts";
import { bodyText } from "../../src/runtime/http.ts";
import { restartApiserver } from "./apiserver-restart.ts";
import { boutLimitMs } from "./bout.ts";
import { budgetBout } from "./budget-bout.ts";
import { coalescerBout } from "./coalescer-bout.ts";
import { credentialsBout } from "./credentials-bout.ts";
import { type FaultMix, injectFaults } from "./faults.ts";
import { hangingWebhook } from "./hanging-webhook.ts";
import { namespace } from "./keeper.ts";
import { type Outcome, played } from "./outcome.ts";
import { Replica } from "./replica.ts";
import { Replicas } from "./replicas.ts";
import { Scene } from "./scene.ts";
import { askAround, live } from "./users.ts";

const faultsMs = 120_000;
/** How long the controllers may take to put everything in order when nothing disturbs them. */
const patienceMs = 600_000;

const faultMixOf = (scene: Scene, town: Replicas<Replica>): FaultMix => ({
  agent: "replica",
  aws: [
    () => ({ action: "ec2:*", effect: { kind: "throttle" }, probability: 0.6 }),
    () => ({ action: "ec2:*", effect: { kind: "lose-answer" }, probability: 0.4 }),
  ],
  awsMs: 20_000,
  maxPauseMs: 15_000,
  own: [
    () => restartApiserver(scene),
    () => hangingWebhook(scene, town),
    () => scene.certificates.rotatePair(),
    () => scene.certificates.rotatePair(),
    () => scene.certificates.rotateAuthority(),
    () => scene.metadata.stall(),
  ],
});

/** Plays the history of a seed to its end. */
export function simulate(seed: number): Promise<Outcome> {
  const scene = new Scene(seed);
  return played(seed, scene.history, () => play(scene));
}

async function play(scene: Scene): Promise<void> {
  const { world, history } = scene;
  await makeNamespace(scene);
  const over = new AbortController();
  const town = new Replicas(scene, (name) => new Replica(scene, name));
  const ending = [
    live(scene, over.signal),
    askAround(scene, () => town.all(), over.signal),
    scene.metadata.askAround(() => town.all(), over.signal),
    injectFaults(scene, town, faultMixOf(scene, town), over.signal),
  ];
  const bouts = Promise.all([budgetBout, credentialsBout, coalescerBout].map((bout) => bout(scene, over.signal)));
  await world.advance(faultsMs);
  over.abort(new Error("the faults are over"));
  await world.advance(0);
  await Promise.all(ending);
  await settleDown(scene, town);
  await world.advance(boutLimitMs + 1000);
  await bouts;
  await finalCheck(scene, town);
  town.close();
  scene.cluster.close();
  history.tell("world", "ends");
}

async function settleDown(scene: Scene, town: Replicas<Replica>): Promise<void> {
  const { world, history } = scene;
  for (let waited = 0; waited < patienceMs; waited += 1000) {
    if (scene.differences().length === 0 && cacheDifferences(scene, town).length === 0) {
      history.tell("world", "is in order");
      return;
    }
    await world.advance(1000);
  }
}

/** Once more after a while: order must last. */
async function finalCheck(scene: Scene, town: Replicas<Replica>): Promise<void> {
  for (const difference of scene.differences()) scene.history.broken("what is wanted exists, and nothing else", difference);
  for (const difference of cacheDifferences(scene, town)) scene.history.broken("a cache equals the server in the end", difference);
  const leaders = town.all().filter((replica) => replica.leading).length;
  if (leaders !== 1) scene.history.broken("one replica leads in the end", `${leaders} lead`);
}

/** Where a replica's caches differ from the server. */
function cacheDifferences({ cluster }: Scene, town: Replicas<Replica>): string[] {
  const records = cluster.objects("configmaps").filter(({ metadata }) => metadata.namespace === namespace);
  return town
    .all()
    .flatMap((replica) => [
      ...differencesOf(replica, replica.nodes, cluster.objects("nodes")),
      ...differencesOf(replica, replica.records, records),
    ]);
}

interface Versioned {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

function differencesOf(
  replica: Replica,
  cache: Informer<Versioned & { metadata: { uid: string } }>,
  stored: readonly Versioned[],
): string[] {
  const text = (objects: readonly Versioned[]) =>
    objects
      .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
      .sort()
      .join(" ");
  const [cached, there] = [text(cache.list()), text(stored)];
  return cached === there ? [] : [`${replica.name} has ${cache.name} as [${cached}], the server as [${there}]`];
}

async function makeNamespace(scene: Scene): Promise<void> {
  const answer = await scene.cluster.send({
    method: "POST",
    url: new URL("/api/v1/namespaces", "http://embedded"),
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ metadata: { name: namespace } }),
  });
  await bodyText(answer);
}
