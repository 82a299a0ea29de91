/** Tags of load balancers, listeners, rules and target groups that stand: the steps to those that are wanted. Pure. */
import { addTags, removeTags } from "../../aws/elbv2-actions.ts";
import { type Step, step } from "../../aws/plan.ts";
import { tagList } from "../groups/managed.ts";
import type { Tags } from "../model.ts";

/** Tags that somebody else keeps: neither written nor removed. */
export type ForeignTags = (key: string) => boolean;

/** AWS's own. */
const isReserved = (key: string) => key.startsWith("aws:");

/** Adds before it removes, so that nothing stands without its marks in between. */
export function planTags(thing: string, arn: string, wanted: Tags, present: Tags, isForeign: ForeignTags): Step[] {
  const isKept = (key: string) => isReserved(key) || isForeign(key);
  const added = Object.entries(wanted).filter(([key, value]) => !isKept(key) && present[key] !== value);
  const removed = Object.keys(present).filter((key) => !isKept(key) && wanted[key] === undefined);
  const why = "its tags differ from what is wanted";
  return [
    ...(added.length > 0
      ? [
          step(
            addTags,
            { ResourceArns: [arn], Tags: tagList(Object.fromEntries(added)) },
            {
              what: `tag ${thing} with ${added.map(([key, value]) => `${key}=${value}`).join(", ")}`,
              why,
              // The old ones and the new may be more than AWS takes, and those that mark it are not among what goes.
              needsRoom: ["TooManyTags"],
            },
          ),
        ]
      : []),
    ...(removed.length > 0
      ? [step(removeTags, { ResourceArns: [arn], TagKeys: removed }, { what: `remove tags ${removed.join(", ")} of ${thing}`, why })]
      : []),
  ];
}
