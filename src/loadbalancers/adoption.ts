/**
 * How a load balancer that one controller made becomes another's without being made anew: its marks change hands, and so do the
 * rules that let its traffic in. Nothing is deleted, nothing stops serving. Pure.
 */
import { updateRuleDescriptions } from "../aws/ec2-actions.ts";
import { addTags, removeTags } from "../aws/elbv2-actions.ts";
import { type Step, step } from "../aws/plan.ts";
import { type EndpointRule, endpointRuleDescription, endpointRuleKey } from "./groups/endpoint-rules.ts";
import { type SeenRule, seenRuleKey, tagList } from "./groups/managed.ts";
import type { Tags } from "./model.ts";

/** Something that changes hands: a load balancer or a target group. */
export interface Adoptee {
  /** `load balancer a0123` */
  readonly what: string;
  readonly arn: string;
  readonly tags: Tags;
  /** The marks of its new owner. */
  readonly marks: Tags;
}

/** Whom the nodes let in for it. */
export interface NodeGroup {
  readonly id: string;
  readonly name: string;
  readonly rules: readonly SeenRule[];
}

export interface Adoption {
  readonly things: readonly Adoptee[];
  /** The tag by which the former owner knows what is its own. */
  readonly formerMark: string;
  readonly nodeGroups: readonly NodeGroup[];
  /** Descriptions of the former owner's rules. */
  readonly formerDescriptions: readonly string[];
  /** What the new owner lets in. */
  readonly wanted: readonly EndpointRule[];
}

const why = "the load balancer controller takes it over";

/**
 * The marks of the new owner come first and those of the former go last: at no moment is it nobody's. A rule that both want
 * is one rule to AWS, so it gets the new owner's description, by which the former owner leaves it where it is.
 */
export function planAdoption({ things, formerMark, nodeGroups, formerDescriptions, wanted }: Adoption): Step[] {
  return [
    ...things.flatMap(({ what, arn, tags, marks }) => {
      const missing = Object.entries(marks).filter(([key, value]) => tags[key] !== value);
      if (missing.length === 0) return [];
      const texts = missing.map(([key, value]) => `${key}=${value}`);
      const input = { ResourceArns: [arn], Tags: tagList(Object.fromEntries(missing)) };
      return [step(addTags, input, { what: `tag ${what} with ${texts.join(", ")}`, why })];
    }),
    ...nodeGroups.flatMap((group) => redescription(group, formerDescriptions, wanted)),
    ...things
      .filter(({ tags }) => tags[formerMark] !== undefined)
      .map(({ what, arn }) =>
        step(
          removeTags,
          { ResourceArns: [arn], TagKeys: [formerMark] },
          { what: `remove tag ${formerMark} of ${what}`, why: "the controller manager deletes what carries it" },
        ),
      ),
  ];
}

function redescription({ id, name, rules }: NodeGroup, former: readonly string[], wanted: readonly EndpointRule[]): Step[] {
  const keys = new Set(wanted.map(endpointRuleKey));
  const shared = rules.filter((rule) => former.includes(rule.description ?? "") && keys.has(seenRuleKey(rule)));
  if (shared.length === 0) return [];
  const descriptions = shared.map((rule) => ({ SecurityGroupRuleId: rule.id, Description: endpointRuleDescription }));
  return [
    step(
      updateRuleDescriptions,
      { GroupId: id, SecurityGroupRuleDescriptions: descriptions },
      {
        what: `describe ${shared.map((rule) => rule.id).join(", ")} in security group ${name} as ${endpointRuleDescription}`,
        why: "both controllers let this in, and it stays",
      },
    ),
  ];
}
