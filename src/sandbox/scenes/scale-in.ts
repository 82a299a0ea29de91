import { deleteAutoScalingGroup } from "../cloud/autoscaling/groups.ts";
import { terminateInstanceInAutoScalingGroup } from "../cloud/autoscaling/instances.ts";
import { autoScalingOf } from "../cloud/autoscaling/state.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { Instance } from "../cloud/ec2/state.ts";
import { busRules } from "../cloud/events/bus-rules.ts";
import { deleteQueue, getQueueUrl } from "../cloud/sqs/queues.ts";
import { nodeOf, nodesIn } from "./expectations.ts";
import { podsOn, runPodsOn } from "./pods.ts";
import type { Scene, Stage } from "./scene.ts";

const group = "workers";
const queue = "fairlead-interruptions-sandbox";
/** Two hours of the simulated cloud, which is in a hurry. */
const hookSeconds = 7_200;

/** Auto Scaling makes a group smaller, and waits until the node of the instance is drained. */
export const scaleIn: Scene = {
  title: "Auto Scaling makes a group smaller",
  about:
    "Auto Scaling knows nothing of pods: it ends an instance when it likes. A lifecycle hook makes it wait, and a notice in a queue tells the " +
    "termination handler, which moves the pods away and then lets the instance go. One command sets all of that up.",
  needs: ["cloud-node-controller", "cloud-node-lifecycle-controller"],
  async play(stage) {
    const { sandbox, say, expect } = stage;
    const { kube, cloud, handlers } = sandbox;
    const machine = await grow(stage);
    const left = podsOn(machine);
    await runPodsOn(kube, machine, "mail", ["mail-0", "mail-1", "mail-2"]);
    say("fairlead interruptions setup --cluster-name sandbox --yes");
    await handlers.setUp("--cluster-name=sandbox", `--hook-timeout-seconds=${hookSeconds}`);
    const { QueueUrl } = getQueueUrl(cloud.account.sqs, { QueueName: queue });
    say(`fairlead node-termination-handler --enable-sqs-termination-draining --queue-url=…/${queue}`);
    const handler = await handlers.startOnQueue(QueueUrl);
    try {
      await expect("the handler listens to the queue", () => (cloud.account.sqs.arrivals.size > 0 ? undefined : "nobody does"));
      say(`aws autoscaling terminate-instance-in-auto-scaling-group --instance-id ${machine.id} --should-decrement-desired-capacity`);
      terminateInstanceInAutoScalingGroup(autoScalingOf(cloud.account), { InstanceId: machine.id, ShouldDecrementDesiredCapacity: true });
      let early = false;
      await expect("the instance runs until the last pod is moved away", (picture) => {
        const running = picture.nodes.find(({ instanceId }) => instanceId === machine.id)?.machine === "running";
        early ||= !running && left(picture) > 0;
        if (early) return "it ended before its pods were moved away";
        return left(picture) === 0 ? undefined : `${left(picture)} pods are there`;
      });
      await expect("the hook is completed, and the plan on the Node says that everything has ended", (picture) => {
        if (autoScalingOf(cloud.account).actions.values().length > 0) return "the hook still holds the instance";
        const phase = nodeOf(picture, machine.id)?.interruption;
        return phase === "ended" || phase === undefined ? undefined : `it says ${phase}`;
      });
      await expect("its Node is deleted when the instance is gone", (picture) =>
        nodesIn(picture).some(({ name }) => name === machine.privateDnsName) ? "it is still there" : undefined,
      );
    } finally {
      await handler.close();
      clear(cloud);
    }
  },
};

/** A group with one machine, whose Node is there. */
async function grow({ sandbox, say, expect }: Stage): Promise<Instance> {
  const { machines, cloud } = sandbox;
  const before = new Set(machines.list().map(({ id }) => id));
  say(`aws autoscaling create-auto-scaling-group --auto-scaling-group-name ${group} --desired-capacity 1 …`);
  machines.group(group);
  const launched = () => machines.list().find(({ id }) => !before.has(id));
  await expect("the instance of the group is in service, and its Node is initialised", (picture) => {
    const machine = launched();
    if (machine === undefined) return "it is not launched yet";
    if (autoScalingOf(cloud.account).members.get(machine.id)?.state !== "InService") return "it is not in service yet";
    return nodeOf(picture, machine.id)?.ready === "True" ? undefined : "its Node is not Ready yet";
  });
  return launched()!;
}

/** What the scene has made in AWS goes with it. */
function clear({ account }: Cloud): void {
  deleteAutoScalingGroup(autoScalingOf(account), { AutoScalingGroupName: group, ForceDelete: true });
  for (const { name } of busRules(account).values()) if (name.startsWith(queue)) busRules(account).delete(name);
  for (const QueueName of [queue, `${queue}-dead`]) deleteQueue(account.sqs, getQueueUrl(account.sqs, { QueueName }));
}
