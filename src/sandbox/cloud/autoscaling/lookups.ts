/** How Auto Scaling finds what a request names, and what it says when it does not. */
import { ServiceError } from "../errors.ts";
import type { AutoScaling, Group, Member } from "./state.ts";

/** The group of a name. */
export function findGroup(as: AutoScaling, name: string): Group {
  const group = as.groups.get(name);
  if (group === undefined)
    throw new ServiceError("ValidationError", `AutoScalingGroup name not found - AutoScalingGroup '${name}' not found`);
  return group;
}

/** The member that an instance is. */
export function findMember(as: AutoScaling, instanceId: string): Member {
  const member = as.members.get(instanceId);
  if (member === undefined) {
    throw new ServiceError("ValidationError", `Instance Id not found - No managed instance found for instance ID: ${instanceId}`);
  }
  return member;
}

/** All members of a group, oldest first. */
export function membersOf(as: AutoScaling, group: string): readonly Member[] {
  return as.members.values().filter((member) => member.group === group);
}

/** Members that are not on their way out. */
export function livingMembers(as: AutoScaling, group: string): readonly Member[] {
  return membersOf(as, group).filter(({ state }) => !state.startsWith("Terminating"));
}

/** One page of a list that has an order; the token is the name of the last one. */
export function page<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  input: { readonly MaxRecords?: number; readonly NextToken?: string },
  limits: { readonly usual: number; readonly max: number },
): { readonly items: readonly T[]; readonly NextToken: string | undefined } {
  const { MaxRecords: most = limits.usual, NextToken: after } = input;
  if (most < 1 || most > limits.max) throw tooLong("maxRecords", most, limits.max);
  const sorted = [...items].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).filter((item) => after === undefined || nameOf(item) > after);
  const taken = sorted.slice(0, most);
  return { items: taken, NextToken: taken.length < sorted.length ? nameOf(taken.at(-1)!) : undefined };
}

/** A list or number beyond what a call takes. */
export function tooLong(parameter: string, value: unknown, max: number): ServiceError {
  const message = `1 validation error detected: Value '${value}' at '${parameter}' failed to satisfy constraint: Member must be less than or equal to ${max}`;
  return new ServiceError("ValidationError", message);
}
