/** Roles, who may act under them, and the policies inside them. */
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import type { Table } from "../store.ts";

export interface Role {
  readonly name: string;
  readonly arn: string;
  readonly id: string;
  readonly created: number;
  /** The trust policy, as it was given. */
  readonly trust: string;
  readonly description: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  /** The policies inside it, by name. */
  readonly policies: Readonly<Record<string, string>>;
}

/** AWS's quotas: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html */
const MAX_TRUST = 2_048;
const MAX_POLICIES = 10_240;

export interface RoleInput {
  readonly RoleName: string;
  readonly AssumeRolePolicyDocument?: string;
  readonly Description?: string;
  readonly Tags?: readonly { readonly Key: string; readonly Value: string }[];
}

export interface RolePolicyInput {
  readonly RoleName: string;
  readonly PolicyName: string;
  readonly PolicyDocument?: string;
}

export function roles({ store }: Pick<Account, "store">): Table<Role> {
  return store.table("iam/roles");
}

export function createRole(account: Account, { RoleName: name, AssumeRolePolicyDocument: trust = "", Description, Tags = [] }: RoleInput) {
  checkName(name, "roleName", 64);
  if (roles(account).get(name) !== undefined) throw new ServiceError("EntityAlreadyExists", `Role with name ${name} already exists.`, 409);
  checkTrust(trust);
  const role: Role = {
    name,
    arn: `arn:${account.partition}:iam::${account.id}:role/${name}`,
    id: account.ids.resource("AROA"),
    created: account.time.now(),
    trust,
    description: Description,
    tags: tagsOf(Tags),
    policies: {},
  };
  roles(account).put(name, role);
  return { Role: describeRole(role) };
}

export function getRole(account: Account, { RoleName }: RoleInput) {
  return { Role: describeRole(foundRole(account, RoleName)) };
}

export function putRolePolicy(account: Account, { RoleName, PolicyName, PolicyDocument = "" }: RolePolicyInput): void {
  const role = foundRole(account, RoleName);
  checkName(PolicyName, "policyName", 128);
  checkDocument(PolicyDocument);
  const policies = { ...role.policies, [PolicyName]: PolicyDocument };
  const size = Object.values(policies).reduce((sum, each) => sum + compact(each), 0);
  if (size > MAX_POLICIES) throw exceeded(`Maximum policy size of ${MAX_POLICIES} bytes exceeded for role ${RoleName}`);
  roles(account).update(RoleName, { policies });
}

export function getRolePolicy(account: Account, { RoleName, PolicyName }: RolePolicyInput) {
  const document = foundRole(account, RoleName).policies[PolicyName];
  if (document === undefined) throw missing(`The role policy with name ${PolicyName} cannot be found.`);
  return { RoleName, PolicyName, PolicyDocument: encodeURIComponent(document) };
}

export function deleteRolePolicy(account: Account, { RoleName, PolicyName }: RolePolicyInput): void {
  const { [PolicyName]: document, ...policies } = foundRole(account, RoleName).policies;
  if (document === undefined) throw missing(`The role policy with name ${PolicyName} cannot be found.`);
  roles(account).update(RoleName, { policies });
}

export function listRolePolicies(account: Account, { RoleName }: RoleInput) {
  return { PolicyNames: Object.keys(foundRole(account, RoleName).policies).sort(), IsTruncated: false };
}

/** No policies of their own are attached to roles here. */
export function listAttachedRolePolicies(account: Account, { RoleName }: RoleInput) {
  foundRole(account, RoleName);
  return { AttachedPolicies: [], IsTruncated: false };
}

export function updateAssumeRolePolicy(account: Account, { RoleName, PolicyDocument = "" }: Omit<RolePolicyInput, "PolicyName">): void {
  foundRole(account, RoleName);
  checkTrust(PolicyDocument);
  roles(account).update(RoleName, { trust: PolicyDocument });
}

export function tagRole(account: Account, { RoleName, Tags = [] }: RoleInput): void {
  const { tags } = foundRole(account, RoleName);
  roles(account).update(RoleName, { tags: { ...tags, ...tagsOf(Tags) } });
}

export function untagRole(
  account: Account,
  { RoleName, TagKeys }: { readonly RoleName: string; readonly TagKeys: readonly string[] },
): void {
  const { tags } = foundRole(account, RoleName);
  roles(account).update(RoleName, { tags: Object.fromEntries(Object.entries(tags).filter(([key]) => !TagKeys.includes(key))) });
}

export function listRoleTags(account: Account, { RoleName }: RoleInput) {
  return { Tags: tagList(foundRole(account, RoleName).tags), IsTruncated: false };
}

/** A role goes when nothing is in it and it is in nothing. */
export function deleteRole(account: Account, { RoleName }: RoleInput, inProfiles: boolean): void {
  const { policies } = foundRole(account, RoleName);
  const conflict = (what: string) => new ServiceError("DeleteConflict", `Cannot delete entity, must ${what} first.`, 409);
  if (inProfiles) throw conflict("remove roles from instance profile");
  if (Object.keys(policies).length > 0) throw conflict("delete policies");
  roles(account).delete(RoleName);
}

export function describeRole({ name, arn, id, created, trust, description, tags }: Role) {
  return {
    RoleName: name,
    RoleId: id,
    Arn: arn,
    Path: "/",
    CreateDate: new Date(created),
    AssumeRolePolicyDocument: encodeURIComponent(trust),
    Description: description,
    MaxSessionDuration: 3_600,
    ...(Object.keys(tags).length > 0 && { Tags: tagList(tags) }),
  };
}

export function foundRole(account: Account, name: string): Role {
  const role = roles(account).get(name);
  if (role === undefined) throw missing(`The role with name ${name} cannot be found.`);
  return role;
}

function checkTrust(document: string): void {
  checkDocument(document);
  if (compact(document) > MAX_TRUST) throw exceeded(`Cannot exceed quota for ACLSizePerRole: ${MAX_TRUST}`);
}

/** White space does not count. */
function compact(document: string): number {
  return document.replace(/\s/g, "").length;
}

export function checkName(name: string, field: string, max: number): void {
  if (/^[\w+=,.@-]+$/.test(name) && name.length <= max) return;
  throw new ServiceError(
    "ValidationError",
    `The specified value for ${field} is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-`,
  );
}

/** The tags of a request by key. */
export function tagsOf(tags: readonly { readonly Key: string; readonly Value: string }[]): Record<string, string> {
  return Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]));
}

function tagList(tags: Role["tags"]) {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

function checkDocument(text: string): void {
  try {
    const { Statement } = JSON.parse(text) as { readonly Statement?: unknown };
    if (Statement !== undefined) return;
  } catch {
    // Falls through to the refusal.
  }
  throw new ServiceError("MalformedPolicyDocument", "Syntax errors in policy.");
}

export function missing(message: string): ServiceError {
  return new ServiceError("NoSuchEntity", message, 404);
}

function exceeded(message: string): ServiceError {
  return new ServiceError("LimitExceeded", message, 409);
}
