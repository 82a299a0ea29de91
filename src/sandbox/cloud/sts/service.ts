/** AWS STS: who am I, and temporary credentials for a role. */
import {
  AssumeRole$,
  type AssumeRoleRequest,
  type AssumeRoleResponse,
  AssumeRoleWithWebIdentity$,
  type AssumeRoleWithWebIdentityRequest,
  type AssumeRoleWithWebIdentityResponse,
  GetCallerIdentity$,
  type GetCallerIdentityRequest,
  type GetCallerIdentityResponse,
} from "@aws-sdk/client-sts";
import type { Account } from "../account.ts";
import type { Trust } from "../controls/settings.ts";
import { ServiceError } from "../errors.ts";
import { query } from "../protocol/protocol.ts";
import { type Call, read, type Service } from "../service.ts";
import { matches } from "../wildcard.ts";
import { readWebIdentity } from "./web-identity.ts";

const USUAL_SECONDS = 3600;
const LONGEST_SECONDS = 43_200;

/** STS answers in every region. Its calls count as reads: a session is no resource of the account. */
export function stsService(account: Account): Service {
  return {
    name: "sts",
    signingName: "sts",
    address: { version: "2011-06-15" },
    region: "any",
    unsigned: ["AssumeRoleWithWebIdentity"],
    undeniable: ["GetCallerIdentity"],
    protocol: query("https://sts.amazonaws.com/doc/2011-06-15/"),
    operations: [
      read<GetCallerIdentityRequest, GetCallerIdentityResponse>(GetCallerIdentity$, (_, { principal }) => ({
        UserId: principal.userId,
        Account: principal.account,
        Arn: principal.arn,
      })),
      read<AssumeRoleRequest, AssumeRoleResponse>(AssumeRole$, (input, call) => assumeRole(account, input, call)),
      read<AssumeRoleWithWebIdentityRequest, AssumeRoleWithWebIdentityResponse>(AssumeRoleWithWebIdentity$, (input) =>
        assumeRoleWithWebIdentity(account, input),
      ),
    ],
  };
}

function assumeRole(account: Account, input: AssumeRoleRequest, { principal }: Call): AssumeRoleResponse {
  const denied = new ServiceError(
    "AccessDenied",
    `User: ${principal.arn} is not authorized to perform: sts:AssumeRole on resource: ${input.RoleArn}`,
    403,
  );
  const trust = trustOf(account, input.RoleArn!, denied);
  if (trust?.principals !== undefined && !trust.principals.some((pattern) => matches(pattern, principal.arn))) throw denied;
  return open(account, trust, input);
}

function assumeRoleWithWebIdentity(account: Account, input: AssumeRoleWithWebIdentityRequest): AssumeRoleWithWebIdentityResponse {
  const token = readWebIdentity(input.WebIdentityToken!, account.time.now());
  const denied = new ServiceError("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity", 403);
  const trust = trustOf(account, input.RoleArn!, denied);
  if (trust !== undefined) {
    const { webIdentity } = trust;
    if (webIdentity === undefined) throw denied;
    if (!matches(webIdentity.issuer, token.issuer)) {
      throw new ServiceError("InvalidIdentityToken", `No OpenIDConnect provider found in your account for ${token.issuer}`);
    }
    if (!token.audiences.some((audience) => matches(webIdentity.audience, audience))) {
      throw new ServiceError("InvalidIdentityToken", "Incorrect token audience");
    }
    if (!matches(webIdentity.subject, token.subject)) throw denied;
  }
  return {
    ...open(account, trust, input),
    SubjectFromWebIdentityToken: token.subject,
    Provider: `arn:${account.partition}:iam::${account.id}:oidc-provider/${token.issuer.replace(/^https:\/\//, "")}`,
    Audience: token.audiences[0],
  };
}

/** The trust of a role; undefined when any role may be assumed. */
function trustOf(account: Account, roleArn: string, denied: ServiceError): Trust | undefined {
  if (!/^arn:aws[a-z-]*:iam::\d{12}:role\/.+$/.test(roleArn)) throw new ServiceError("ValidationError", `${roleArn} is invalid`);
  const { trust } = account.settings();
  if (trust === undefined) return undefined;
  const entry = trust.find((candidate) => candidate.roleArn === roleArn);
  if (entry === undefined) throw denied;
  return entry;
}

type Asked = Pick<AssumeRoleRequest, "RoleArn" | "RoleSessionName" | "DurationSeconds">;

function open(
  account: Account,
  trust: Trust | undefined,
  input: Asked,
): Pick<AssumeRoleResponse, "Credentials" | "AssumedRoleUser" | "PackedPolicySize"> {
  const name = input.RoleSessionName!;
  if (!/^[\w+=,.@-]{2,64}$/.test(name)) {
    throw new ServiceError(
      "ValidationError",
      `1 validation error detected: Value '${name}' at 'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\w+=,.@-]*`,
    );
  }
  const seconds = input.DurationSeconds ?? USUAL_SECONDS;
  if (seconds < 900 || seconds > LONGEST_SECONDS) {
    const bound = seconds < 900 ? "greater than or equal to 900" : `less than or equal to ${LONGEST_SECONDS}`;
    throw new ServiceError(
      "ValidationError",
      `1 validation error detected: Value '${seconds}' at 'durationSeconds' failed to satisfy constraint: Member must have value ${bound}`,
    );
  }
  if (seconds > (trust?.maxSessionSeconds ?? LONGEST_SECONDS)) {
    throw new ServiceError("ValidationError", "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.");
  }
  const { principal, credentials } = account.principals.open(input.RoleArn!, name, seconds);
  return {
    Credentials: {
      AccessKeyId: credentials.accessKeyId,
      SecretAccessKey: credentials.secretAccessKey,
      SessionToken: credentials.sessionToken,
      Expiration: credentials.expiration,
    },
    AssumedRoleUser: { AssumedRoleId: principal.userId, Arn: principal.arn },
    PackedPolicySize: 0,
  };
}
