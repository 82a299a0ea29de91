import type { Scene } from "./scene.ts";

/** Replicas cannot reach the API server for a while, and when they can, it has forgotten what happened meanwhile: they list anew. */
export function restartApiserver({ chance, cluster, world, history }: Scene): void {
  const ms = chance.between(2_000, 20_000);
  history.tell("faults", `the API server restarts, which takes ${Math.round(ms)} ms`);
  const isReplica = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
    headers["user-agent"]?.startsWith("replica") ?? false;
  const end = cluster.faults.add({ match: isReplica, effect: { kind: "reset" } });
  cluster.cutWatches();
  world.clock.after(ms, () => {
    cluster.compact();
    end();
  });
}
