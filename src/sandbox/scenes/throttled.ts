import { isThrottle } from "../calls.ts";
import { totals } from "../view/picture.ts";
import { allKept, nodeOf, nodesIn } from "./expectations.ts";
import type { Scene } from "./scene.ts";

const forMs = 3_000;
/** What somebody who keeps asking at full speed would exceed many times over. */
const patienceLimit = 25;

/** AWS answers nobody for a while. */
export const throttled: Scene = {
  title: "AWS throttles",
  about:
    "AWS limits how often an account may call it, and every busy account meets that limit. While AWS answers nothing but throttling " +
    "errors, a new machine joins: Fairlead must neither give up on it, nor hammer AWS, nor harm what works.",
  needs: ["cloud-node-controller"],
  async play({ sandbox, say, expect, holds }) {
    const kept = nodesIn(sandbox.picture());
    const before = totals(sandbox.picture().calls.tallies).throttled;
    say("AWS now turns every call away; one more machine boots");
    sandbox.throttle(true);
    try {
      const { id } = sandbox.machines.launch();
      await expect("the new machine registers its Node, tainted", (picture) =>
        nodeOf(picture, id)?.taints.includes("uninitialized") ? undefined : "it has not yet",
      );
      const registered = sandbox.world.clock.now();
      await expect("Fairlead asks AWS about it and is turned away", ({ calls }) => {
        const asked = calls.recent.filter(
          ({ at, who, action }) => at >= registered && who === "Fairlead" && action === "DescribeInstances",
        );
        return asked.some(({ result }) => isThrottle(result)) ? undefined : "it has not asked yet";
      });
      await holds(`for ${forMs / 1000} seconds the new Node waits, and nothing else is touched`, forMs, (picture) => {
        if (nodeOf(picture, id)?.taints.includes("uninitialized") === false) return "the new Node lost its taint without AWS's word";
        return allKept(kept)(picture);
      });
      await holds(`Fairlead was turned away at most ${patienceLimit} times: it backs off`, 0, ({ calls }) => {
        const count = totals(calls.tallies).throttled - before;
        return count <= patienceLimit ? undefined : `${count} calls were turned away`;
      });
      say("AWS answers again");
      sandbox.throttle(false);
      await expect(
        "the new Node is initialised",
        (picture) => {
          const node = nodeOf(picture, id);
          return node !== undefined && !node.taints.includes("uninitialized") ? undefined : "it still waits";
        },
        30_000,
      );
    } finally {
      sandbox.throttle(false);
    }
  },
};
