import type { KubeClient } from "../../kube/client.ts";
import { resource } from "../../kube/resource.ts";
import type { PodDisruptionBudget } from "../../kube/types.ts";
import { interruptSpot, recommendRebalance } from "../cloud/ec2/interruptions.ts";
import type { Instance } from "../cloud/ec2/state.ts";
import type { Picture } from "../view/picture.ts";
import { nodeOf, nodesIn } from "./expectations.ts";
import { namespace, podsOn, runPodsOn } from "./pods.ts";
import type { Objection, Scene } from "./scene.ts";

const budgets = resource<PodDisruptionBudget>({
  group: "policy",
  version: "v1",
  plural: "poddisruptionbudgets",
  kind: "PodDisruptionBudget",
  namespaced: true,
});
const names = ["cart-0", "cart-1"];

/** AWS wants a spot instance back, and who handles it dies half-way. */
export const spotInterruption: Scene = {
  title: "A spot instance is taken back",
  about:
    "AWS gives a spot instance two minutes' notice. The termination handler on that node must move its pods away in time, and no faster " +
    "than their disruption budget allows. What it has done is written on the Node, so that it can crash at any moment.",
  needs: ["cloud-node-lifecycle-controller"],
  async play({ sandbox, say, expect }) {
    const { kube, cloud, machines, handlers } = sandbox;
    const machine = machines.list().findLast(({ state }) => state === "running");
    if (machine === undefined) throw new Error("this scene needs a running machine");
    const { ec2 } = cloud.account;
    const left = podsOn(machine);
    const phase = (picture: Picture) => nodeOf(picture, machine.id)?.interruption;
    await runPods(kube, machine);
    say(`fairlead node-termination-handler --node-name=${machine.privateDnsName}   (on that node)`);
    const handler = await handlers.start(machine);
    try {
      say("AWS finds the instance at a higher risk, and recommends to rebalance");
      recommendRebalance(ec2, machine);
      await expect("the Node is cordoned, and its pods stay", (picture): Objection => {
        if (nodeOf(picture, machine.id)?.cordoned !== true) return "it is not cordoned yet";
        return left(picture) === names.length ? undefined : "a pod is gone";
      });
      say("AWS announces that the instance is taken back in two minutes");
      interruptSpot(ec2, machine);
      await expect("one pod is moved away, the other is held back by its disruption budget", (picture) =>
        phase(picture) === "draining" && left(picture) === 1 ? undefined : `${left(picture)} are there`,
      );
      say(`kill -9 ${handler.pid}   (the handler, half-way)`);
      handler.kill();
      say("kubectl: the budget allows one more");
      await allowOne(kube);
      await expect("started again, the handler goes on where it was: the last pod is moved away", (picture) =>
        left(picture) === 0 ? undefined : "it is still there",
      );
      await expect("the plan on the Node says that everything has ended", (picture) =>
        phase(picture) === "ended" ? undefined : `it says ${phase(picture)}`,
      );
    } finally {
      await handler.close();
      await kube.delete(budgets, { namespace, name: "cart" });
    }
    say("AWS takes the instance; another one is launched in its place");
    machines.terminate(machine.id);
    machines.launch();
    await expect("its Node is deleted", (picture) =>
      nodesIn(picture).some(({ name }) => name === machine.privateDnsName) ? "it is still there" : undefined,
    );
  },
};

/** Two pods on one machine, of which a budget lets one go at a time. */
async function runPods(kube: KubeClient, machine: Instance): Promise<void> {
  await runPodsOn(kube, machine, "cart", names);
  const selector = { matchLabels: { app: "cart" } };
  await kube.create(budgets, { metadata: { namespace, name: "cart" }, spec: { minAvailable: 1, selector } });
  await allowOne(kube);
}

/** What the disruption controller of Kubernetes works out. */
async function allowOne(kube: KubeClient): Promise<void> {
  const status = { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 };
  await kube.patch(budgets, { namespace, name: "cart", subresource: "status" }, { merge: { status } });
}
