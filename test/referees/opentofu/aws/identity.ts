/** Roles, their policies, instance profiles and key pairs. */
import { isDeepStrictEqual } from "node:util";
import { DeleteKeyPairCommand, DescribeKeyPairsCommand, ImportKeyPairCommand } from "@aws-sdk/client-ec2";
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  DeleteInstanceProfileCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  GetInstanceProfileCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  ListRoleTagsCommand,
  PutRolePolicyCommand,
  RemoveRoleFromInstanceProfileCommand,
  TagRoleCommand,
  UntagRoleCommand,
  UpdateAssumeRolePolicyCommand,
} from "@aws-sdk/client-iam";
import type { Value } from "../msgpack.ts";
import type { Fields } from "../plan.ts";
import type { ResourceType } from "../plugin.ts";
import { type Aws, optionalText, retag, tagged, tagList, tagsIn, text, unlessMissing } from "./account.ts";

export function identityTypes(aws: Aws): Readonly<Record<string, ResourceType>> {
  return {
    aws_iam_role: role(aws),
    aws_iam_role_policy: rolePolicy(aws),
    aws_iam_instance_profile: profile(aws),
    aws_key_pair: keyPair(aws),
  };
}

/** A policy in the words of the state, if they mean what AWS has. */
function document(state: Value | undefined, seen: string | undefined): string {
  const decoded = decodeURIComponent(seen ?? "");
  const same = typeof state === "string" && isDeepStrictEqual(JSON.parse(state), JSON.parse(decoded));
  return same ? (state as string) : decoded;
}

function iamTags(tags: Value | undefined): { Key: string; Value: string }[] {
  return tagList(tags).map(({ Key, Value }) => ({ Key: Key!, Value: Value! }));
}

function role({ iam }: Aws): ResourceType {
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const RoleName = text(state.name);
    const found = (await unlessMissing(iam.send(new GetRoleCommand({ RoleName }))))?.Role;
    if (found === undefined) return undefined;
    const { Tags } = await iam.send(new ListRoleTagsCommand({ RoleName }));
    return {
      id: RoleName,
      arn: found.Arn!,
      unique_id: found.RoleId!,
      path: found.Path!,
      create_date: found.CreateDate!.toISOString(),
      max_session_duration: found.MaxSessionDuration ?? 3_600,
      assume_role_policy: document(state.assume_role_policy, found.AssumeRolePolicyDocument),
      ...tagsIn(state, Tags as { Key: string; Value: string }[]),
    };
  };
  return {
    fixed: ["name"],
    read,
    async create(wanted) {
      const input = { RoleName: text(wanted.name), AssumeRolePolicyDocument: text(wanted.assume_role_policy) };
      const Tags = iamTags(wanted.tags);
      await iam.send(new CreateRoleCommand(Tags.length === 0 ? input : { ...input, Tags }));
      return (await read(wanted))!;
    },
    async update(before, wanted) {
      const RoleName = text(before.name);
      if (before.assume_role_policy !== wanted.assume_role_policy) {
        await iam.send(new UpdateAssumeRolePolicyCommand({ RoleName, PolicyDocument: text(wanted.assume_role_policy) }));
      }
      const now = (wanted.tags ?? {}) as Fields;
      const gone = Object.keys((before.tags ?? {}) as Fields).filter((key) => !(key in now));
      if (gone.length > 0) await iam.send(new UntagRoleCommand({ RoleName, TagKeys: gone }));
      if (Object.keys(now).length > 0) await iam.send(new TagRoleCommand({ RoleName, Tags: iamTags(now) }));
      return (await read(wanted))!;
    },
    async delete({ name }) {
      await iam.send(new DeleteRoleCommand({ RoleName: text(name) }));
    },
  };
}

function rolePolicy({ iam }: Aws): ResourceType {
  const place = (state: Fields) => ({ RoleName: text(state.role), PolicyName: text(state.name) });
  const put = async (wanted: Fields): Promise<Fields> => {
    await iam.send(new PutRolePolicyCommand({ ...place(wanted), PolicyDocument: text(wanted.policy) }));
    return { id: `${text(wanted.role)}:${text(wanted.name)}` };
  };
  return {
    fixed: ["role", "name"],
    async read(state) {
      const found = await unlessMissing(iam.send(new GetRolePolicyCommand(place(state))));
      return found === undefined ? undefined : { policy: document(state.policy, found.PolicyDocument) };
    },
    create: put,
    update: (_, wanted) => put(wanted),
    async delete(state) {
      await unlessMissing(iam.send(new DeleteRolePolicyCommand(place(state))));
    },
  };
}

function profile({ iam }: Aws): ResourceType {
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const InstanceProfileName = text(state.name);
    const found = (await unlessMissing(iam.send(new GetInstanceProfileCommand({ InstanceProfileName }))))?.InstanceProfile;
    if (found === undefined) return undefined;
    return {
      id: InstanceProfileName,
      arn: found.Arn!,
      unique_id: found.InstanceProfileId!,
      path: found.Path!,
      create_date: found.CreateDate!.toISOString(),
      role: found.Roles?.[0]?.RoleName ?? null,
    };
  };
  const move = async (InstanceProfileName: string, from: string | undefined, to: string | undefined) => {
    if (from === to) return;
    if (from !== undefined) await iam.send(new RemoveRoleFromInstanceProfileCommand({ InstanceProfileName, RoleName: from }));
    if (to !== undefined) await iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName, RoleName: to }));
  };
  return {
    fixed: ["name"],
    read,
    async create(wanted) {
      await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: text(wanted.name) }));
      await move(text(wanted.name), undefined, optionalText(wanted.role));
      return (await read(wanted))!;
    },
    async update(before, wanted) {
      await move(text(before.name), optionalText(before.role), optionalText(wanted.role));
      return (await read(wanted))!;
    },
    async delete({ name, role: held }) {
      await move(text(name), optionalText(held), undefined);
      await iam.send(new DeleteInstanceProfileCommand({ InstanceProfileName: text(name) }));
    },
  };
}

function keyPair(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const asked = ec2.send(new DescribeKeyPairsCommand({ KeyNames: [text(state.key_name)] }));
    const found = (await unlessMissing(asked))?.KeyPairs?.[0];
    if (found === undefined) return undefined;
    return {
      id: found.KeyName!,
      key_pair_id: found.KeyPairId!,
      key_type: found.KeyType!,
      fingerprint: found.KeyFingerprint!,
      ...tagsIn(state, found.Tags),
    };
  };
  return {
    fixed: ["key_name", "public_key"],
    read,
    async create(wanted) {
      const PublicKeyMaterial = Buffer.from(text(wanted.public_key));
      await ec2.send(new ImportKeyPairCommand({ KeyName: text(wanted.key_name), PublicKeyMaterial, ...tagged("key-pair", wanted.tags) }));
      return (await read(wanted))!;
    },
    async update(before, wanted) {
      await retag(aws, text(before.key_pair_id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ key_name }) {
      await ec2.send(new DeleteKeyPairCommand({ KeyName: text(key_name) }));
    },
  };
}
