/** Instance profiles: what a launch names to give its instances a role. */
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import type { Table } from "../store.ts";
import { checkName, describeRole, foundRole, missing, tagsOf } from "./roles.ts";

export interface InstanceProfile {
  readonly name: string;
  readonly arn: string;
  readonly id: string;
  readonly created: number;
  /** The role in it; AWS allows one. */
  readonly role: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
}

export interface ProfileInput {
  readonly InstanceProfileName: string;
  readonly Tags?: readonly { readonly Key: string; readonly Value: string }[];
}

export interface ProfileRoleInput {
  readonly InstanceProfileName: string;
  readonly RoleName: string;
}

export function instanceProfiles({ store }: Pick<Account, "store">): Table<InstanceProfile> {
  return store.table("iam/instance-profiles");
}

export function createInstanceProfile(account: Account, { InstanceProfileName: name, Tags = [] }: ProfileInput) {
  checkName(name, "instanceProfileName", 128);
  if (instanceProfiles(account).get(name) !== undefined) {
    throw new ServiceError("EntityAlreadyExists", `Instance Profile ${name} already exists.`, 409);
  }
  const profile = instanceProfiles(account).put(name, {
    name,
    arn: `arn:${account.partition}:iam::${account.id}:instance-profile/${name}`,
    id: `AIPA${account.ids.upper(17)}`,
    created: account.time.now(),
    role: undefined,
    tags: tagsOf(Tags),
  });
  return { InstanceProfile: describe(account, profile) };
}

export function getInstanceProfile(account: Account, { InstanceProfileName }: ProfileInput) {
  return { InstanceProfile: describe(account, found(account, InstanceProfileName)) };
}

export function deleteInstanceProfile(account: Account, { InstanceProfileName }: ProfileInput): void {
  const { name, role } = found(account, InstanceProfileName);
  if (role !== undefined) {
    throw new ServiceError("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.", 409);
  }
  instanceProfiles(account).delete(name);
}

export function addRoleToInstanceProfile(account: Account, input: ProfileRoleInput): void {
  const profile = found(account, input.InstanceProfileName);
  foundRole(account, input.RoleName);
  if (profile.role !== undefined)
    throw new ServiceError("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1", 409);
  instanceProfiles(account).update(profile.name, { role: input.RoleName });
}

export function removeRoleFromInstanceProfile(account: Account, input: ProfileRoleInput): void {
  const profile = found(account, input.InstanceProfileName);
  foundRole(account, input.RoleName);
  if (profile.role !== input.RoleName) {
    throw missing(`The role with name ${input.RoleName} cannot be found in the instance profile ${profile.name}.`);
  }
  instanceProfiles(account).update(profile.name, { role: undefined });
}

export function listInstanceProfilesForRole(account: Account, { RoleName }: { readonly RoleName: string }) {
  foundRole(account, RoleName);
  const own = instanceProfiles(account)
    .values()
    .filter(({ role }) => role === RoleName);
  return { InstanceProfiles: own.map((profile) => describe(account, profile)), IsTruncated: false };
}

function describe(account: Account, { name, arn, id, created, role, tags }: InstanceProfile) {
  return {
    Path: "/",
    InstanceProfileName: name,
    InstanceProfileId: id,
    Arn: arn,
    CreateDate: new Date(created),
    Roles: role === undefined ? [] : [describeRole(foundRole(account, role))],
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  };
}

function found(account: Account, name: string): InstanceProfile {
  const profile = instanceProfiles(account).get(name);
  if (profile === undefined) throw missing(`Instance Profile ${name} cannot be found.`);
  return profile;
}
