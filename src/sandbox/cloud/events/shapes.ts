/** The events that concern instances, as AWS words them. */
import { arn } from "../account.ts";
import type { BusAccount, CloudEvent } from "./bus.ts";

/** Two minutes before a spot instance is taken. The instance's ARN names its zone and no account. */
export function spotInterruption(account: BusAccount, instanceId: string, zone: string, action: string): CloudEvent {
  return {
    source: "aws.ec2",
    detailType: "EC2 Spot Instance Interruption Warning",
    resources: [`arn:${account.partition}:ec2:${zone}:instance/${instanceId}`],
    detail: { "instance-id": instanceId, "instance-action": action },
  };
}

/** A spot instance is at a higher risk of interruption. */
export function rebalanceRecommendation(account: BusAccount, instanceId: string, zone: string): CloudEvent {
  return {
    source: "aws.ec2",
    detailType: "EC2 Instance Rebalance Recommendation",
    resources: [`arn:${account.partition}:ec2:${zone}:instance/${instanceId}`],
    detail: { "instance-id": instanceId },
  };
}

/** An instance has entered a state. */
export function stateChange(account: BusAccount, instanceId: string, state: string): CloudEvent {
  return {
    source: "aws.ec2",
    detailType: "EC2 Instance State-change Notification",
    resources: [arn(account, "ec2", `instance/${instanceId}`)],
    detail: { "instance-id": instanceId, state },
  };
}

/** Maintenance is scheduled; one event can name many instances. */
export function scheduledChange(
  account: BusAccount,
  instanceIds: readonly string[],
  typeCode: string,
  description: string,
  start: number,
): CloudEvent {
  return {
    source: "aws.health",
    detailType: "AWS Health Event",
    resources: instanceIds,
    detail: {
      eventArn: arn(account, "health", `event/EC2/${typeCode}/${typeCode}_${account.ids.hex(12)}`),
      service: "EC2",
      eventTypeCode: typeCode,
      eventTypeCategory: "scheduledChange",
      startTime: new Date(start).toUTCString(),
      eventDescription: [{ language: "en_US", latestDescription: description }],
      affectedEntities: instanceIds.map((entityValue) => ({ entityValue })),
    },
  };
}

/** The capacity of an interruptible reservation is wanted back, two minutes ahead. Its `resources` is a text. */
export function reservationInterruption(account: BusAccount, instanceId: string, zoneId: string, end: number): CloudEvent {
  return {
    source: "aws.ec2",
    detailType: "EC2 Capacity Reservation Instance Interruption Warning",
    resources: arn(account, "ec2", `instance/${instanceId}`),
    detail: {
      "instance-id": instanceId,
      "instance-action": "terminate",
      "instance-termination-time": new Date(end).toISOString(),
      azId: zoneId,
    },
  };
}

/** A capacity block ends in 40 minutes; its instances are terminated from 10 minutes later on. */
export function capacityBlockExpiration(account: BusAccount, reservationId: string, end: number): CloudEvent {
  return {
    source: "aws.ec2",
    detailType: "Capacity Block Reservation Expiration Warning",
    resources: [arn(account, "ec2", `capacity-reservation/${reservationId}`)],
    detail: { "capacity-reservation-id": reservationId, "end-date": new Date(end).toISOString() },
  };
}

/** An instance is held by a lifecycle hook. */
export function lifecycleAction(groupArn: string, detail: object & { readonly LifecycleTransition: string }): CloudEvent {
  const launching = detail.LifecycleTransition.endsWith("LAUNCHING");
  return {
    source: "aws.autoscaling",
    detailType: launching ? "EC2 Instance-launch Lifecycle Action" : "EC2 Instance-terminate Lifecycle Action",
    resources: [groupArn],
    detail,
  };
}
