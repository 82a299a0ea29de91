/** An admission webhook that does not answer, with many writes behind it: they wait within their limits, and nobody else does. */
import { configMaps } from "../../src/kube/builtin.ts";
import { sleep } from "../../src/runtime/world.ts";
import type { Replica } from "./replica.ts";
import type { Replicas } from "./replicas.ts";
import type { Scene } from "./scene.ts";
import { endsInTime } from "./time-limits.ts";

const writesAtOnce = 40;
/** Of the calls of a crowd: some have little time behind others that have much. */
const limitsMs = [3_000, 10_000, 30_000];
const calmLimitMs = 5_000;

/** For a while, writes of ConfigMaps take as long as the webhook does; each replica has a crowd of them. */
export function hangingWebhook(scene: Scene, town: Replicas<Replica>): void {
  const { chance, cluster, world, history } = scene;
  const [ms, lastsMs, fails] = [chance.between(2_000, 29_000), chance.between(5_000, 40_000), chance.happens(0.5)];
  history.tell("faults", `a webhook for ConfigMaps takes ${Math.round(ms)} ms${fails ? " and fails" : ""}`);
  const end = cluster.faults.add({
    match: ({ method, url, headers }) =>
      method !== "GET" && url.pathname.includes("/configmaps") && (headers["user-agent"]?.startsWith("replica") ?? false),
    effect: { kind: "webhook", ms, fails },
  });
  world.clock.after(lastsMs, () => end());
  for (const replica of town.all()) {
    for (let n = 0; n < writesAtOnce; n++) void crowd(scene, replica, n);
    void askMeanwhile(scene, replica, lastsMs);
  }
}

/** Writes that change nothing: no such object exists. Who does not lead is refused by its own gate. */
function crowd(scene: Scene, replica: Replica, n: number): Promise<void> {
  const limitMs = scene.chance.pick(limitsMs)!;
  const write = replica.busy.patch(configMaps, { namespace: "crowd", name: `c-${n}` }, { merge: {} }, { timeoutMs: limitMs });
  return endsInTime(scene, replica.machine, limitMs, `${replica.name}'s write ${n} of a crowd`, write);
}

/** Those that are asking already: another webhook hangs, too. */
const asking = new WeakSet<Replica>();

/** Another part of the same process, which asks one thing at a time. */
async function askMeanwhile({ world, history }: Scene, replica: Replica, forMs: number): Promise<void> {
  if (asking.has(replica)) return;
  asking.add(replica);
  const until = world.clock.monotonic() + forMs;
  while (replica.machine.alive && world.clock.monotonic() < until) {
    const path = `/healthz/${Math.round(world.clock.monotonic())}`;
    let isWaiting = true;
    const over = () => {
      isWaiting = false;
    };
    const answer = replica.calm.raw(path, { timeoutMs: calmLimitMs }).then(over, over);
    await sleep(world.clock, 100);
    if (isWaiting && replica.machine.alive && !replica.probes.has(path))
      history.broken("no part of a process waits for another's calls", `${replica.name} has not sent ${path} yet`);
    await answer;
    await sleep(world.clock, 2_000);
  }
  asking.delete(replica);
}
