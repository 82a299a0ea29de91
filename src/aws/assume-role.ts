/** Acting as another role: the keys STS lends for a quarter of an hour. */
import type { Credentials as StsKeys } from "@aws-sdk/client-sts";
import type { Clock } from "../runtime/world.ts";
import { actionsOf } from "./actions.ts";
import type { Caller } from "./caller.ts";
import type { WebIdentityRole } from "./credential-chain.ts";
import type { Credentials } from "./credentials.ts";
import { type AwsSettings, parseArn } from "./settings.ts";

const sts = actionsOf("sts", () => import("./sdk/sts.ts"));
const assume = sts("AssumeRole", (sdk) => sdk.AssumeRoleCommand);
const assumeWithWebIdentity = sts("AssumeRoleWithWebIdentity", (sdk) => sdk.AssumeRoleWithWebIdentityCommand);

/** What STS needs to see against the confused deputy: on whose behalf the role is assumed. */
export function sourceHeaders(settings: AwsSettings): Record<string, string> {
  if (settings.roleArn === undefined) return {};
  return {
    "x-amz-source-account": parseArn(settings.roleArn, "RoleARN").account,
    ...(settings.sourceArn ? { "x-amz-source-arn": settings.sourceArn } : {}),
  };
}

/** A role of somebody else's choice, perhaps of another account. */
export interface ForeignRole {
  readonly arn: string;
  /** What its owner asks for against the confused deputy. */
  readonly externalId?: string;
  /** Of at most 64 letters, by which its owner knows who acts. */
  readonly sessionName: string;
}

/** Keys of the role, obtained with the caller's own. */
export async function assumeRole(caller: Caller, role: string | ForeignRole, clock: Clock, signal: AbortSignal): Promise<Credentials> {
  const { arn: roleArn, externalId, sessionName } = roleOf(role, clock);
  const input = { RoleArn: roleArn, RoleSessionName: sessionName, DurationSeconds: 900, ...(externalId && { ExternalId: externalId }) };
  const { Credentials: keys } = await caller.call(assume, input, { cause: "credentials", urgency: "user", signal });
  return credentialsFrom(keys, roleArn);
}

function roleOf(role: string | ForeignRole, clock: Clock): ForeignRole {
  return typeof role === "string" ? { arn: role, sessionName: `fairlead-${clock.now()}` } : role;
}

/** Keys of the role, for a token that proves who asks. */
export async function assumeRoleWithToken(caller: Caller, role: WebIdentityRole, signal: AbortSignal): Promise<Credentials> {
  const input = { RoleArn: role.roleArn, RoleSessionName: role.sessionName, WebIdentityToken: role.token };
  const { Credentials: keys } = await caller.call(assumeWithWebIdentity, input, { cause: "credentials", urgency: "user", signal });
  return credentialsFrom(keys, role.roleArn);
}

function credentialsFrom(keys: StsKeys | undefined, roleArn: string): Credentials {
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken, Expiration } = keys ?? {};
  if (!accessKeyId || !secretAccessKey || !sessionToken) throw new Error(`STS returned no keys for ${roleArn}`);
  return { accessKeyId, secretAccessKey, sessionToken, ...(Expiration === undefined ? {} : { expiresAt: Expiration.getTime() }) };
}
