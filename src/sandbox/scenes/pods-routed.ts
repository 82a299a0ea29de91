import { routesFollowNodes } from "./expectations.ts";
import type { Scene } from "./scene.ts";

/** The network learns where pods live. */
export const podsRouted: Scene = {
  title: "Pods become reachable",
  about:
    "Each Node has a range of addresses for its pods, which the VPC knows nothing of. Fairlead adds a route for every Node to the cluster's " +
    "route table, so that packets for its pods find its machine, and removes the route when the Node goes.",
  needs: ["node-route-controller"],
  async play({ expect }) {
    await expect("the VPC has a route to the pods of every Node", routesFollowNodes, 30_000);
  },
};
