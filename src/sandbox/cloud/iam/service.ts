/** AWS IAM, as much of it as tells what a principal may do, and roles with their policies and instance profiles. */
import {
  AddRoleToInstanceProfile$,
  CreateInstanceProfile$,
  CreateRole$,
  DeleteInstanceProfile$,
  DeleteRole$,
  DeleteRolePolicy$,
  GetInstanceProfile$,
  GetRole$,
  GetRolePolicy$,
  ListAttachedRolePolicies$,
  ListInstanceProfilesForRole$,
  ListRolePolicies$,
  ListRoleTags$,
  PutRolePolicy$,
  RemoveRoleFromInstanceProfile$,
  type SimulatePolicyResponse,
  SimulatePrincipalPolicy$,
  type SimulatePrincipalPolicyRequest,
  TagRole$,
  UntagRole$,
  UpdateAssumeRolePolicy$,
} from "@aws-sdk/client-iam";
import { type CheckedResource, judge } from "../access/policy.ts";
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { query } from "../protocol/protocol.ts";
import { read, type Service, write } from "../service.ts";
import {
  addRoleToInstanceProfile,
  createInstanceProfile,
  deleteInstanceProfile,
  getInstanceProfile,
  listInstanceProfilesForRole,
  type ProfileInput,
  type ProfileRoleInput,
  removeRoleFromInstanceProfile,
} from "./instance-profiles.ts";
import {
  createRole,
  deleteRole,
  deleteRolePolicy,
  getRole,
  getRolePolicy,
  listAttachedRolePolicies,
  listRolePolicies,
  listRoleTags,
  putRolePolicy,
  type RoleInput,
  type RolePolicyInput,
  tagRole,
  untagRole,
  updateAssumeRolePolicy,
} from "./roles.ts";

const DECISIONS = { allowed: "allowed", "implicitly denied": "implicitDeny", "explicitly denied": "explicitDeny" } as const;

/** IAM is one for all regions of a partition and lives in the first of them. */
export function iamService(account: Account): Service {
  return {
    name: "iam",
    signingName: "iam",
    address: { version: "2010-05-08" },
    region: "any",
    protocol: query("https://iam.amazonaws.com/doc/2010-05-08/"),
    operations: [
      read<SimulatePrincipalPolicyRequest, SimulatePolicyResponse>(SimulatePrincipalPolicy$, (input) => ({
        EvaluationResults: input.ActionNames!.map((action) => ({
          EvalActionName: action,
          EvalResourceName: input.ResourceArns?.[0] ?? "*",
          EvalDecision: DECISIONS[judge(account.settings().policy, sessionOf(input.PolicySourceArn!), action, () => asked(input))],
        })),
        IsTruncated: false,
      })),
      read<RoleInput, unknown>(GetRole$, (input) => getRole(account, input)),
      write<RoleInput, unknown>(
        CreateRole$,
        (input) => createRole(account, input),
        ({ Tags = [] }) => (Tags.length > 0 ? ["iam:TagRole"] : []),
      ),
      read<RolePolicyInput, unknown>(GetRolePolicy$, (input) => getRolePolicy(account, input)),
      write<RolePolicyInput, unknown>(PutRolePolicy$, (input) => putRolePolicy(account, input)),
      write<RolePolicyInput, unknown>(DeleteRolePolicy$, (input) => deleteRolePolicy(account, input)),
      write<RolePolicyInput, unknown>(UpdateAssumeRolePolicy$, (input) => updateAssumeRolePolicy(account, input)),
      write<RoleInput, unknown>(DeleteRole$, (input) =>
        deleteRole(account, input, listInstanceProfilesForRole(account, input).InstanceProfiles.length > 0),
      ),
      write<RoleInput, unknown>(TagRole$, (input) => tagRole(account, input)),
      write<RoleInput & { readonly TagKeys: readonly string[] }, unknown>(UntagRole$, (input) => untagRole(account, input)),
      read<RoleInput, unknown>(ListRoleTags$, (input) => listRoleTags(account, input)),
      read<RoleInput, unknown>(ListRolePolicies$, (input) => listRolePolicies(account, input)),
      read<RoleInput, unknown>(ListAttachedRolePolicies$, (input) => listAttachedRolePolicies(account, input)),
      read<RoleInput, unknown>(ListInstanceProfilesForRole$, (input) => listInstanceProfilesForRole(account, input)),
      read<ProfileInput, unknown>(GetInstanceProfile$, (input) => getInstanceProfile(account, input)),
      write<ProfileInput, unknown>(
        CreateInstanceProfile$,
        (input) => createInstanceProfile(account, input),
        ({ Tags = [] }) => (Tags.length > 0 ? ["iam:TagInstanceProfile"] : []),
      ),
      write<ProfileInput, unknown>(DeleteInstanceProfile$, (input) => deleteInstanceProfile(account, input)),
      write<ProfileRoleInput, unknown>(
        AddRoleToInstanceProfile$,
        (input) => addRoleToInstanceProfile(account, input),
        () => ["iam:PassRole"],
      ),
      write<ProfileRoleInput, unknown>(RemoveRoleFromInstanceProfile$, (input) => removeRoleFromInstanceProfile(account, input)),
    ],
  };
}

/** The simulator believes what it is told of resources and conditions. */
function asked({ ResourceArns = ["*"], ContextEntries = [] }: SimulatePrincipalPolicyRequest): readonly CheckedResource[] {
  const context = Object.fromEntries(
    ContextEntries.map(({ ContextKeyName = "", ContextKeyValues = [] }) => [ContextKeyName, ContextKeyValues[0] ?? ""]),
  );
  return ResourceArns.map((arn) => ({ arn, context }));
}

/** The account's policy speaks of those who call, and they call as sessions of a role. */
function sessionOf(arn: string): string {
  const [, partition, account, kind, name] = /^arn:([\w-]+):iam::(\d{12}):(role|user)\/(.+)$/.exec(arn) ?? [];
  if (kind === undefined)
    throw new ServiceError("InvalidInput", `Invalid Entity Arn: ${arn} does not clearly define entity type and name.`);
  return kind === "user" ? arn : `arn:${partition}:sts::${account}:assumed-role/${name?.split("/").at(-1)}/simulation`;
}
