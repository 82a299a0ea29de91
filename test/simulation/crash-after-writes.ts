/** Whoever leads crashes right after it has changed something, before the answer arrives. */
import type { FaultTargets } from "./faults.ts";
import type { Replicas, Resident } from "./replicas.ts";

/** The next few writes each end the process that makes them. */
export function crashAfterWrites(
  scene: FaultTargets & { onWrite: () => void },
  replicas: Replicas<Resident>,
  count = () => Math.floor(scene.chance.between(1, 6)),
): () => void {
  return () => {
    let left = count();
    scene.history.tell("faults", `the next ${left} writes each end the process that makes them`);
    scene.onWrite = () => {
      const leader = left > 0 ? replicas.all().find((replica) => replica.leading) : undefined;
      if (leader === undefined) return;
      left--;
      scene.history.tell("faults", `${leader.name} crashes after a write`);
      leader.crash();
      replicas.replace(leader);
    };
  };
}
