import { allKept, nodesIn, oneLeads } from "./expectations.ts";
import type { Scene } from "./scene.ts";

/** The process that does the work dies. */
export const leaderKilled: Scene = {
  title: "The leader is killed",
  about:
    "Two replicas of Fairlead run, and only the one that holds a lease may change anything. When it crashes, the other must notice " +
    "that the lease is no longer renewed and take over. (The lease lasts 6 seconds here, 15 by default.)",
  needs: [],
  async play({ sandbox, say, expect }) {
    const { replicas } = sandbox;
    await expect("one replica leads, the other is on standby", oneLeads);
    const killed = replicas.leader()!;
    const kept = nodesIn(sandbox.picture());
    say(`kill -9 ${killed.pid}   (replica ${killed.name}, the leader)`);
    replicas.kill(killed.name);
    await expect("the other replica has taken over", () => {
      const now = replicas.leader();
      return now !== undefined && now.name !== killed.name ? undefined : "nobody leads yet";
    });
    await expect("the killed one has been restarted and is on standby", ({ replicas: all }) => {
      const state = all.find(({ name }) => name === killed.name)?.state;
      return state === "standing by" ? undefined : `it is ${state}`;
    });
    await expect("no Node was lost on the way", allKept(kept));
  },
};
