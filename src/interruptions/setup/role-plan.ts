/** The role that the handler acts under in AWS. Pure. */

import { step } from "../../aws/plan.ts";
import { createRole, putRolePolicy } from "../../aws/role-actions.ts";
import { canonical, rolePolicyName, type SetupPlan, type SetupSeen, type SetupWish } from "./wish.ts";

/** A role that is there keeps its trust: whoever made it knows who acts under it. Our policy in it is ours to correct. */
export function planRole(wish: SetupWish, { role: seen }: SetupSeen): SetupPlan {
  if (wish.role === undefined) return { steps: [], kept: [] };
  const { name, trust, policy } = wish.role;
  const PolicyName = rolePolicyName(wish);
  const Tags = Object.entries(wish.tags).map(([Key, Value]) => ({ Key, Value }));
  const create = step(
    createRole,
    {
      RoleName: name,
      AssumeRolePolicyDocument: JSON.stringify(trust),
      Description: "What the termination handler may do",
      ...(Tags.length > 0 && { Tags }),
    },
    { what: `create role ${name}`, why: "the handler acts under it" },
  );
  const allow = step(
    putRolePolicy,
    { RoleName: name, PolicyName, PolicyDocument: JSON.stringify(policy) },
    {
      what: `put policy ${PolicyName} into role ${name}`,
      why: seen?.policy === undefined ? "the handler needs it" : "it says something else",
    },
  );
  const isAllowed = seen?.policy !== undefined && canonical(seen.policy) === canonical(policy);
  const isTrusted = seen === undefined || canonical(seen.trust) === canonical(trust);
  return {
    steps: [...(seen === undefined ? [create] : []), ...(isAllowed ? [] : [allow])],
    kept: isTrusted ? [] : [`role ${name} trusts others than it would if it were made`],
  };
}
