import { accountAsBefore } from "./account.ts";
import { nodesIn } from "./expectations.ts";
import type { Scene } from "./scene.ts";

/** The cluster is taken down, and after it the network that the layout made. */
export const everythingDestroyed: Scene = {
  title: "Everything is destroyed",
  about:
    "A cluster goes in the opposite order: its load balancers and volumes first, which are gone already, then its machines, then the network. AWS " +
    "deletes no VPC in which anything is left: whatever Fairlead had forgotten in all these scenes would show now.",
  needs: ["cloud-node-controller", "cloud-node-lifecycle-controller"],
  async play({ sandbox, say, expect, signal }) {
    const { machines, layout, cloud } = sandbox;
    say("tofu destroy   (layouts/with-nat/static-node: node 0 of the group system)");
    await layout.removeNode(signal);
    const others = machines.list().filter(({ state }) => state === "running");
    say(`aws ec2 terminate-instances: the other ${others.length} machines, as the machine controller does it`);
    for (const { id } of others) machines.terminate(id);
    await expect("every Node is deleted", (picture) => {
      const count = nodesIn(picture).length;
      return count === 0 ? undefined : `${count} are there`;
    });
    await expect("no route to pods is left in the VPC", ({ routes }) => (routes.length === 0 ? undefined : `${routes.length} are there`));
    say("tofu destroy   (layouts/with-nat/base-infrastructure)");
    await layout.removeBase(signal);
    await expect("the AWS account is exactly as it was before the layout", () => accountAsBefore(layout.before, cloud));
  },
};
