import { allInitialised, everyNode, nodesIn, oneLeads, routesFollowNodes } from "./expectations.ts";
import type { Scene } from "./scene.ts";

/** Whether the world is in order again, whatever was done to it. */
export const atTheEnd: Scene = {
  title: "At the end",
  about: "After all of that, cluster and cloud must agree.",
  needs: ["cloud-node-controller", "cloud-node-lifecycle-controller"],
  async play({ sandbox, expect }) {
    await expect("every running machine has its Node, and no other Node is left", (picture) => {
      const odd = picture.nodes.filter(({ machine, node }) => (machine === "running") !== (node !== undefined));
      return odd.length === 0 ? undefined : `not so for ${odd.map(({ instanceId, node }) => node?.name ?? instanceId).join(", ")}`;
    });
    await expect(
      "every Node is Ready and free of taints",
      (picture) => allInitialised(picture) ?? everyNode(nodesIn(picture), ({ ready, taints }) => ready === "True" && taints.length === 0),
    );
    if (sandbox.controllers.has("node-route-controller")) {
      await expect("the routes to pods are those of the Nodes there are, and no others", routesFollowNodes);
    }
    await expect("one replica leads, the other is on standby", oneLeads);
  },
};
