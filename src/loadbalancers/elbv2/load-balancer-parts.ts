/** What is planned alike for load balancers of both kinds of the second generation. Pure. */
import { modifyCapacityReservation, modifyLoadBalancerAttributes } from "../../aws/elbv2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import { type Made, type Step, step } from "../../aws/plan.ts";
import type { Attributes } from "../model.ts";
import { attributesText, changedAttributes } from "./attributes.ts";

/** Attributes that have another value than they are to have. */
export function planAttributes(
  { name, attributes, attributesBy: by }: { readonly name: string; readonly attributes: Attributes; readonly attributesBy?: string },
  arn: string | Made,
  present: Attributes,
): Step[] {
  const changed = changedAttributes(attributes, present);
  if (changed.length === 0) return [];
  const words = { what: `set ${attributesText(changed)} on load balancer ${name}`, why: "it differs from what is wanted", by };
  return [step(modifyLoadBalancerAttributes, { LoadBalancerArn: arn, Attributes: changed }, words)];
}

const activeStates = ["active", "active_impaired"];

/** Whether one in this state serves; one that is impaired does, and cannot grow. */
export const isActive = (state: string | undefined): boolean => state !== undefined && activeStates.includes(state);

/** AWS takes a reservation for one that is active only, and one change at a time. */
export function planCapacity(
  { name, capacity }: { readonly name: string; readonly capacity?: number },
  arn: string | Made,
  present: number,
): Step[] {
  if (capacity === undefined || capacity === present) return [];
  const input = capacity === 0 ? { ResetCapacityReservation: true } : { MinimumLoadBalancerCapacity: { CapacityUnits: capacity } };
  return [
    step(
      modifyCapacityReservation,
      { LoadBalancerArn: arn, ...input },
      {
        what: capacity === 0 ? `reserve no capacity for load balancer ${name}` : `reserve ${capacity} units for load balancer ${name}`,
        why: "it differs from what is wanted",
        waitsOn: ["PriorRequestNotComplete", "CapacityReservationPending"],
      },
    ),
  ];
}

/** Whether AWS says that a load balancer is protected against deletion. */
export const refusesDeletion = (error: unknown): boolean =>
  isAwsError(error) && error.code === "OperationNotPermitted" && /deletion protection/i.test(error.message);

/** Lets a load balancer be deleted that is protected against it. */
export function unprotection({ name, arn }: { readonly name: string; readonly arn: string }): Step {
  const Attributes = [{ Key: "deletion_protection.enabled", Value: "false" }];
  const words = { what: `let load balancer ${name} be deleted`, why: "AWS refuses to delete what is protected" };
  return step(modifyLoadBalancerAttributes, { LoadBalancerArn: arn, Attributes }, words);
}

export const sameSet = (a: readonly unknown[], b: readonly unknown[]) => a.length === b.length && a.every((item) => b.includes(item));
