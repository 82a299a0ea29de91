/** What Auto Scaling keeps: groups, their members, lifecycle hooks, the actions that wait in them, and what was done. */
import type { RunInstancesRequest } from "@aws-sdk/client-ec2";
import type { Account } from "../account.ts";
import type { Table } from "../store.ts";

/** A tag of a group; one that is propagated is given to the instances it launches. */
export interface GroupTag {
  readonly key: string;
  readonly value: string;
  readonly propagate: boolean;
}

/** A group. `launch` is what it launches with. */
export interface Group {
  readonly name: string;
  readonly arn: string;
  readonly min: number;
  readonly max: number;
  readonly desired: number;
  readonly subnetIds: readonly string[];
  readonly launch: RunInstancesRequest;
  /** The name of the configuration that `launch` comes from. */
  readonly launchConfiguration: string | undefined;
  readonly healthCheckGraceMs: number;
  readonly newInstancesProtected: boolean;
  readonly suspended: readonly string[];
  readonly tags: readonly GroupTag[];
  readonly created: number;
  /** It is on its way out: nothing is launched for it any more. */
  readonly deleting: boolean;
}

/** The states of a member, as DescribeAutoScalingInstances names them. */
export type LifecycleState =
  | "Pending"
  | "Pending:Wait"
  | "Pending:Proceed"
  | "InService"
  | "Terminating"
  | "Terminating:Wait"
  | "Terminating:Proceed"
  | "Standby";

/** An instance of a group. */
export interface Member {
  readonly instanceId: string;
  readonly group: string;
  readonly zone: string;
  readonly type: string;
  readonly state: LifecycleState;
  readonly healthy: boolean;
  readonly protected: boolean;
  readonly launched: number;
  /** The member that goes when this one is in service. */
  readonly replaces?: string | undefined;
}

/** The two moments at which a hook holds an instance. */
export type Transition = "autoscaling:EC2_INSTANCE_LAUNCHING" | "autoscaling:EC2_INSTANCE_TERMINATING";

/** A lifecycle hook. */
export interface Hook {
  readonly name: string;
  readonly group: string;
  readonly transition: Transition;
  readonly heartbeatSeconds: number;
  readonly defaultResult: "CONTINUE" | "ABANDON";
  readonly targetArn: string | undefined;
  readonly roleArn: string | undefined;
  readonly metadata: string | undefined;
}

/** An instance held by a hook, until somebody completes the action or its time is over. */
export interface LifecycleAction {
  readonly token: string;
  readonly group: string;
  readonly hook: string;
  readonly instanceId: string;
  readonly transition: Transition;
  readonly deadline: number;
  /** No heartbeat goes beyond this. */
  readonly lastDeadline: number;
}

/** Something that Auto Scaling did to a group. */
export interface Activity {
  readonly id: string;
  readonly group: string;
  readonly description: string;
  readonly cause: string;
  readonly status: "InProgress" | "MidLifecycleAction" | "Successful" | "Failed" | "Cancelled";
  readonly instanceId: string;
  readonly started: number;
  readonly ended: number | undefined;
}

/** Auto Scaling's tables. */
export interface AutoScaling {
  readonly account: Account;
  readonly groups: Table<Group>;
  readonly members: Table<Member>;
  /** By group and name. */
  readonly hooks: Table<Hook>;
  /** By token. */
  readonly actions: Table<LifecycleAction>;
  readonly activities: Table<Activity>;
}

/** The tables of an account. */
export function autoScalingOf(account: Account): AutoScaling {
  const { store } = account;
  return {
    account,
    groups: store.table("autoscaling/groups"),
    members: store.table("autoscaling/members"),
    hooks: store.table("autoscaling/hooks"),
    actions: store.table("autoscaling/actions"),
    activities: store.table("autoscaling/activities"),
  };
}

/** Where the metadata service says that a member is on its way to; undefined for what belongs to no group. */
export function targetLifecycleState(account: Account, instanceId: string): string | undefined {
  const member = autoScalingOf(account).members.get(instanceId);
  if (member === undefined) return undefined;
  if (member.state.startsWith("Terminating")) return "Terminated";
  return member.state === "Standby" ? "Standby" : "InService";
}
