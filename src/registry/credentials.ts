/** The node's own AWS credentials, from the one place the environment chooses (`aws/credential-choice.ts`). */

import { type CredentialChoice, chooseCredentials, keysOfDocument } from "../aws/credential-choice.ts";
import type { SharedProfile } from "../aws/shared-profile.ts";
import type { Transport } from "../runtime/http.ts";
import { messageOf } from "../runtime/message-of.ts";
import type { World } from "../runtime/world.ts";
import { assumeRole } from "./assume-role.ts";
import type { Caller } from "./call.ts";
import { PluginFailure } from "./errors.ts";
import { fetchText, type Metadata } from "./metadata.ts";
import type { Credentials } from "./sign.ts";

export interface FoundCredentials {
  readonly credentials: Credentials;
  /** Where they came from, for the log. */
  readonly source: string;
}

export interface CredentialSources {
  readonly caller: Caller;
  /** Reaches this machine's own endpoints; never through a proxy. */
  readonly direct: Transport;
  readonly metadata: Metadata | undefined;
  readonly profile: SharedProfile;
  /** Where and in which region a role is assumed. */
  readonly sts: { readonly url: () => Promise<URL>; readonly region: () => Promise<string> };
}

/** The credentials of the one source that is configured. Throws `PluginFailure`. */
export async function nodeCredentials(sources: CredentialSources): Promise<FoundCredentials> {
  const { caller, profile, metadata } = sources;
  const choice = await attempt("configuration", async () => chooseCredentials(caller.world.environment, profile));
  switch (choice.kind) {
    case "keys":
      return { source: choice.source, credentials: choice.credentials };
    case "web-identity":
      return await fromTokenFile(choice, sources);
    case "profile": {
      const source = `profile ${profile.name}`;
      // SSO, chains of roles and external processes are the SDK's to know; it is loaded for whoever uses them.
      const { credentialsOfProfile } = await import("../aws/profile-credentials.ts");
      const credentials = await attempt(source, async () =>
        credentialsOfProfile(profile, { region: await sources.sts.region(), send: caller.send, signal: caller.deadline }),
      );
      return { source, credentials };
    }
    case "container":
      return await attempt("container endpoint", () => fromContainer(choice, sources));
    case "instance-role":
      if (metadata === undefined) throw noCredentials("the instance metadata service is switched off (AWS_EC2_METADATA_DISABLED)");
      return await fromInstanceRole(metadata, caller);
  }
}

type Choice<Kind extends CredentialChoice["kind"]> = CredentialChoice & { readonly kind: Kind };

async function fromTokenFile(choice: Choice<"web-identity">, { caller, sts }: CredentialSources): Promise<FoundCredentials> {
  const { roleArn } = choice;
  const token = await attempt("web identity", () => textFile(caller.world, choice.tokenFile));
  const sessionName = choice.sessionName || "ecr-credential-provider";
  return { source: `web identity ${roleArn}`, credentials: await assumeRole({ roleArn, sessionName, token }, await sts.url(), caller) };
}

async function fromContainer(choice: Choice<"container">, { caller, direct }: CredentialSources): Promise<FoundCredentials> {
  const { url, tokenFile } = choice;
  const token = tokenFile === undefined ? choice.token : (await textFile(caller.world, tokenFile)).trim();
  // An agent of this machine is asked straight; one elsewhere, which must be secure, is reached as AWS is.
  const send = url.protocol === "https:" ? caller.send : direct;
  const text = await fetchText(send, caller, "GET", url, token === undefined ? {} : { authorization: token }, "container endpoint");
  return { source: "container endpoint", credentials: keysOfDocument(text) };
}

async function fromInstanceRole(metadata: Metadata, caller: Caller): Promise<FoundCredentials> {
  const root = "/latest/meta-data/iam/security-credentials/";
  let role: string | undefined;
  try {
    role = (await metadata.get(root)).split("\n", 1)[0]?.trim();
    if (!role) throw new Error("the instance has no role");
    return { source: `instance role ${role}`, credentials: keysOfDocument(await metadata.get(root + encodeURIComponent(role))) };
  } catch (error) {
    if (caller.deadline.aborted) throw noCredentials(`no EC2 IMDS role found, the time limit ran out: ${messageOf(error)}`, error);
    const what = role ? `cannot read EC2 IMDS role ${role}` : "no EC2 IMDS role found";
    throw noCredentials(`${what}, ${messageOf(error)}`, error);
  }
}

async function textFile(world: World, path: string): Promise<string> {
  try {
    return Buffer.from(await world.files.read(path)).toString("utf8");
  } catch (cause) {
    throw new Error(`cannot read ${path}`, { cause });
  }
}

async function attempt<T>(source: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PluginFailure) throw error;
    throw noCredentials(`${source}: ${messageOf(error)}`, error);
  }
}

function noCredentials(detail: string, cause?: unknown): PluginFailure {
  return new PluginFailure("NoCredentials", `failed to refresh cached credentials, ${detail}`, {
    cause,
    hint: "Give the instance a role, or set credentials in the provider's env in kubelet's configuration.",
  });
}
