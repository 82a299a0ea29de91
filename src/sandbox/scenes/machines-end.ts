import { allKept, nodeOf, nodesIn } from "./expectations.ts";
import type { Scene } from "./scene.ts";

/** One machine is stopped, another is gone for good. */
export const machinesEnd: Scene = {
  title: "A machine is stopped, another terminated",
  about:
    "Both Nodes stop reporting, and to Kubernetes they look the same. Fairlead asks AWS: a stopped machine may come back, so its Node stays, " +
    "with a taint; a terminated one never will, so its Node is deleted, and only then. Fairlead never deletes a Node without proof.",
  needs: ["cloud-node-lifecycle-controller"],
  async play({ sandbox, say, expect }) {
    const running = sandbox.machines.list().filter(({ state }) => state === "running");
    const [stopped, ended] = running;
    if (stopped === undefined || ended === undefined) throw new Error("this scene needs at least two running machines: --nodes 2");
    const others = nodesIn(sandbox.picture()).filter(({ name }) => name !== ended.privateDnsName);
    say(`aws ec2 stop-instances --instance-ids ${stopped.id}`);
    sandbox.machines.stop(stopped.id);
    say(`aws ec2 terminate-instances --instance-ids ${ended.id}`);
    sandbox.machines.terminate(ended.id);
    await expect("the stopped machine's Node is kept and tainted shutdown", (picture) => {
      const node = nodeOf(picture, stopped.id);
      return node?.taints.includes("shutdown") ? undefined : node === undefined ? "it is gone" : "it has no such taint yet";
    });
    await expect("the terminated machine's Node is deleted", (picture) =>
      nodesIn(picture).some(({ name }) => name === ended.privateDnsName) ? "it is still there" : undefined,
    );
    say(`aws ec2 start-instances --instance-ids ${stopped.id}`);
    sandbox.machines.start(stopped.id);
    await expect("started again, the stopped one's Node is Ready and loses the taint", (picture) => {
      const node = nodeOf(picture, stopped.id);
      if (node?.ready !== "True") return "it is not Ready yet";
      return node.taints.includes("shutdown") ? "it still has the taint" : undefined;
    });
    await expect("every other Node is as it was", allKept(others));
  },
};
