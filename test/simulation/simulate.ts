/** One history from one seed: a world with two replicas lives through a storm, and must be in order afterwards. */
import type { Informer } from "../../src/kube/informer.ts";
import { bodyText } from "../../src/runtime/http.ts";
import { budgetBout, drainMs } from "./budget-bout.ts";
import { namespace } from "./keeper.ts";
import { forbidOriginals } from "./originals.ts";
import { askAround, live } from "./people.ts";
import { Replica } from "./replica.ts";
import { Scene } from "./scene.ts";
import { storm, type Town } from "./weather.ts";

export interface Outcome {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly hash: string;
  story(): string;
}

const stormMs = 120_000;
/** How long the controllers may take to put everything in order when nothing disturbs them. */
const patienceMs = 600_000;

/** Plays the history of a seed to its end. */
export async function simulate(seed: number): Promise<Outcome> {
  const scene = new Scene(seed);
  const allow = forbidOriginals((what) => scene.history.broken("nothing in the world reaches for the machine", what));
  try {
    await play(scene);
  } finally {
    allow();
  }
  const { violations } = scene.history;
  return { seed, violations, hash: scene.history.hash(), story: () => scene.history.story() };
}

async function play(scene: Scene): Promise<void> {
  const { world, history } = scene;
  await makeNamespace(scene);
  const town = new Replicas(scene);
  const over = new AbortController();
  town.start();
  town.start();
  const ending = [live(scene, over.signal), askAround(scene, () => town.replicas(), over.signal), storm(scene, town, over.signal)];
  const bout = budgetBout(scene, over.signal);
  await world.advance(stormMs);
  over.abort(new Error("the storm is over"));
  await world.advance(0);
  await Promise.all(ending);
  await settleDown(scene, town);
  await world.advance(drainMs);
  await bout;
  await finalCheck(scene, town);
  town.close();
  scene.cluster.close();
  history.tell("world", "ends");
}

async function settleDown(scene: Scene, town: Replicas): Promise<void> {
  const { world, history } = scene;
  for (let waited = 0; waited < patienceMs; waited += 1000) {
    if (scene.differences().length === 0 && town.differences().length === 0) {
      history.tell("world", "is in order");
      return;
    }
    await world.advance(1000);
  }
}

/** Once more after a while: order must last. */
async function finalCheck(scene: Scene, town: Replicas): Promise<void> {
  for (const difference of scene.differences()) scene.history.broken("what is wanted exists, and nothing else", difference);
  for (const difference of town.differences()) scene.history.broken("a cache equals the server in the end", difference);
  const leaders = town.replicas().filter((replica) => replica.leading).length;
  if (leaders !== 1) scene.history.broken("one replica leads in the end", `${leaders} lead`);
}

class Replicas implements Town {
  readonly #scene: Scene;
  #running: Replica[] = [];
  #started = 0;
  #closed = false;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  replicas(): readonly Replica[] {
    return this.#running;
  }

  start(): void {
    if (this.#closed) return;
    const replica = new Replica(this.#scene, `replica-${++this.#started}`);
    this.#running.push(replica);
    void replica.run(() => this.replace(replica));
  }

  replace(replica: Replica): void {
    if (!this.#running.includes(replica)) return;
    this.#running = this.#running.filter((other) => other !== replica);
    this.#scene.world.clock.after(this.#scene.chance.between(1000, 10_000), () => this.start());
  }

  /** Where a replica's caches differ from the server. */
  differences(): string[] {
    const { cluster } = this.#scene;
    const records = cluster.objects("configmaps").filter(({ metadata }) => metadata.namespace === namespace);
    return this.#running.flatMap((replica) => [
      ...cacheDifferences(replica, replica.nodes, cluster.objects("nodes")),
      ...cacheDifferences(replica, replica.records, records),
    ]);
  }

  close(): void {
    this.#closed = true;
    for (const replica of this.#running) replica.crash();
  }
}

interface Versioned {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

function cacheDifferences(
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
