import { isIPv4 } from "node:net";
import { allInitialised, everyNode, nodesIn } from "./expectations.ts";
import type { Scene } from "./scene.ts";

/** Machines join the cluster and become useful. */
export const nodesArrive: Scene = {
  title: "Nodes arrive",
  about:
    "A new machine joins a Kubernetes cluster with a taint that keeps pods away, because Kubernetes does not yet know what it is. " +
    "Fairlead finds the machine in AWS, records its type, zone and addresses, and removes the taint.",
  needs: ["cloud-node-controller"],
  async play({ sandbox, expect }) {
    const machines = sandbox.machines.list();
    const zones = new Set(machines.map(({ zone }) => zone));
    await expect(`all ${machines.length} machines have registered a Node`, (picture) => {
      const count = nodesIn(picture).length;
      return count === machines.length ? undefined : `${count} have`;
    });
    await expect("no Node carries the taint uninitialized", allInitialised);
    await expect("every Node shows its machine's id, type and zone", (picture) =>
      everyNode(nodesIn(picture), ({ providerId, type, zone }) =>
        machines.some((machine) => providerId === `aws:///${machine.zone}/${machine.id}` && type === machine.type && zone === machine.zone),
      ),
    );
    await expect("every Node shows its address in the VPC", (picture) =>
      everyNode(nodesIn(picture), ({ internalIp }) => isIPv4(internalIp ?? "")),
    );
    await expect(`the Nodes lie in ${zones.size} zones, and are Ready`, (picture) => {
      const seen = new Set(nodesIn(picture).map(({ zone }) => zone));
      if (seen.size !== zones.size) return `they lie in ${seen.size}`;
      return everyNode(nodesIn(picture), ({ ready }) => ready === "True");
    });
  },
};
