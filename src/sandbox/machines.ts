/** The cluster's machines in the simulated cloud, and what somebody with the AWS console would do to them. */
import type { _InstanceType } from "@aws-sdk/client-ec2";
import { createAutoScalingGroup } from "./cloud/autoscaling/groups.ts";
import { autoScalingOf } from "./cloud/autoscaling/state.ts";
import type { Cloud } from "./cloud/cloud.ts";
import { start, stop, terminate } from "./cloud/ec2/instance-lifecycle.ts";
import { KINDS } from "./cloud/ec2/kinds.ts";
import { runInstances } from "./cloud/ec2/run-instances.ts";
import type { Instance } from "./cloud/ec2/state.ts";
import { tagSpecification } from "./cloud/ec2/tags.ts";
import type { Network } from "./cloud/network.ts";

const types: readonly _InstanceType[] = ["m5.large", "m5.large", "c5.xlarge", "m7g.large", "r5.large"];

/** Not calls of the API: they work however badly AWS is made to behave. */
export class Machines {
  readonly #cloud: Cloud;
  readonly #network: Network;
  #launched = 0;

  constructor(cloud: Cloud, network: Network) {
    this.#cloud = cloud;
    this.#network = network;
  }

  /** Every machine that ever was and is not yet forgotten, as it is at this moment. */
  list(): readonly Instance[] {
    const { time, ec2 } = this.#cloud.account;
    time.settle();
    return [...ec2.instances.values()].filter(({ tags }) => this.#tag in tags);
  }

  /** One more, in the next zone. */
  launch(): Instance {
    const number = this.#launched++;
    const { privateSubnetIds, nodeGroupId, clusterId } = this.#network;
    const [instance] = runInstances(this.#cloud.account.ec2, {
      ImageId: "ami-0123456789abcdef0",
      InstanceType: types[number % types.length],
      MinCount: 1,
      MaxCount: 1,
      SubnetId: privateSubnetIds[number % privateSubnetIds.length],
      SecurityGroupIds: [nodeGroupId],
      IamInstanceProfile: { Name: `${clusterId}-node` },
      TagSpecifications: tagSpecification(KINDS.instance, { Name: `${clusterId}-node-${number + 1}`, [this.#tag]: "owned" }),
    });
    return instance!;
  }

  /** A group of Auto Scaling, which launches one machine at once. */
  group(name: string): void {
    const { privateSubnetIds, nodeGroupId, clusterId } = this.#network;
    createAutoScalingGroup(autoScalingOf(this.#cloud.account), {
      AutoScalingGroupName: name,
      VPCZoneIdentifier: privateSubnetIds.join(","),
      MinSize: 0,
      MaxSize: 2,
      DesiredCapacity: 1,
      launch: {
        ImageId: "ami-0123456789abcdef0",
        InstanceType: "m5.large",
        MinCount: 1,
        MaxCount: 1,
        SecurityGroupIds: [nodeGroupId],
        IamInstanceProfile: { Name: `${clusterId}-node` },
      },
      Tags: [{ Key: this.#tag, Value: "owned", PropagateAtLaunch: true }],
    });
  }

  stop(id: string): void {
    this.#change(id, stop);
  }

  start(id: string): void {
    this.#change(id, start);
  }

  terminate(id: string): void {
    this.#change(id, terminate);
  }

  get #tag(): string {
    return `kubernetes.io/cluster/${this.#network.clusterId}`;
  }

  #change(id: string, change: (ec2: Cloud["account"]["ec2"], instance: Instance) => void): void {
    const instance = this.list().find((other) => other.id === id);
    if (instance === undefined) throw new Error(`there is no instance ${id} in the sandbox`);
    change(this.#cloud.account.ec2, instance);
  }
}
