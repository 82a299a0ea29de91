/** The credentials of the controller manager, from the one place the environment chooses (`credential-choice.ts`). */
import type { Transport } from "../runtime/http.ts";
import { wholeAnswer } from "../runtime/whole-answer.ts";
import type { World } from "../runtime/world.ts";
import { type CredentialChoice, chooseCredentials, keysOfDocument } from "./credential-choice.ts";
import { type Credentials, CredentialsUnavailable } from "./credentials.ts";
import type { Metadata } from "./metadata.ts";
import { readSharedProfile } from "./shared-profile.ts";

export interface ChainOptions {
  readonly world: World;
  readonly transport: Transport;
  readonly metadata: Metadata;
  readonly region: string;
  readonly assumeWithToken: (role: WebIdentityRole, signal: AbortSignal) => Promise<Credentials>;
}

export interface WebIdentityRole {
  readonly roleArn: string;
  readonly sessionName: string;
  readonly token: string;
}

const places: Readonly<Record<CredentialChoice["kind"], string>> = {
  keys: "the keys given",
  "web-identity": "AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN",
  profile: "the shared config and credentials files",
  container: "the container endpoint",
  "instance-role": "the instance's role (no keys, web identity, profile or container endpoint is configured)",
};

/** The credentials. A place that is set up but fails is an error: going on would hide the mistake, or be somebody else. */
export async function findCredentials(options: ChainOptions, signal: AbortSignal): Promise<Credentials> {
  let choice: CredentialChoice;
  try {
    choice = chooseCredentials(options.world.environment, await readSharedProfile(options.world));
  } catch (cause) {
    throw new CredentialsUnavailable(`cannot tell where AWS credentials come from: ${(cause as Error).message}`, { cause });
  }
  try {
    return await obtain(choice, options, signal);
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new CredentialsUnavailable(`cannot get AWS credentials from ${places[choice.kind]}: ${(cause as Error).message}`, { cause });
  }
}

async function obtain(choice: CredentialChoice, options: ChainOptions, signal: AbortSignal): Promise<Credentials> {
  const { world, region, transport } = options;
  switch (choice.kind) {
    case "keys":
      return choice.credentials;
    case "web-identity": {
      const token = await fileText(world, choice.tokenFile);
      const sessionName = choice.sessionName || `fairlead-${world.clock.now()}`;
      return options.assumeWithToken({ roleArn: choice.roleArn, token, sessionName }, signal);
    }
    case "profile": {
      const { credentialsOfProfile } = await import("./profile-credentials.ts");
      return credentialsOfProfile(choice.profile, { region, send: transport, signal });
    }
    case "container":
      return fromContainer(choice, options, signal);
    case "instance-role":
      return fromInstanceRole(options.metadata, signal);
  }
}

async function fromContainer(
  { url, token, tokenFile }: CredentialChoice & { readonly kind: "container" },
  { world, transport }: ChainOptions,
  signal: AbortSignal,
): Promise<Credentials> {
  const authorization = tokenFile === undefined ? token : await fileText(world, tokenFile);
  const limits = { clock: world.clock, limitMs: 5_000, what: `GET ${url.origin}`, signal };
  // An agent of this machine is asked straight; one elsewhere, which must be secure, is reached as AWS is.
  const direct = url.protocol !== "https:";
  const answer = await wholeAnswer(transport, { method: "GET", url, headers: authorization ? { authorization } : {}, direct }, limits);
  if (answer.status !== 200) throw new Error(`${url.origin} answered ${answer.status}`);
  return keysOfDocument(answer.body);
}

async function fromInstanceRole(metadata: Metadata, signal: AbortSignal): Promise<Credentials> {
  const role = (await metadata.get("meta-data/iam/security-credentials/", signal))?.trim().split("\n")[0];
  if (!role) throw new Error("no role is attached to the instance");
  const keys = await metadata.get(`meta-data/iam/security-credentials/${role}`, signal);
  if (keys === undefined) throw new Error(`no keys for role ${role}`);
  return keysOfDocument(keys);
}

async function fileText(world: World, path: string): Promise<string> {
  return Buffer.from(await world.files.read(path))
    .toString("utf8")
    .trim();
}
