/** Whose credentials a pull uses: the node's, or those of a role the workload asked for. */

import { PluginFailure } from "./errors.ts";
import type { Registry } from "./hosts.ts";
import { partitionOfRegistry } from "./hosts.ts";
import type { CredentialRequest } from "./request.ts";
import type { Settings } from "./settings.ts";

export type Identity =
  | { readonly kind: "node"; readonly why: string; readonly wanted: boolean }
  | { readonly kind: "role"; readonly arn: string; readonly from: string; readonly token: string };

/**
 *     token  annotation  AWS_ECR_ROLE_ARN   identity
 *     no     any         any                node
 *     yes    an ARN      any                that role
 *     yes    ""          any                node (the workload opted out)
 *     yes    absent      an ARN             that role
 *     yes    absent      unset              node
 *
 * With several annotation keys the first that is present decides.
 */
export function identityFor(request: CredentialRequest, settings: Settings): Identity {
  const token = request.serviceAccountToken;
  if (token === undefined) return { kind: "node", why: "the request carries no service account token", wanted: false };
  for (const key of settings.roleAnnotations) {
    const arn = request.serviceAccountAnnotations[key];
    if (arn === undefined) continue;
    if (arn === "") return { kind: "node", why: `annotation ${key} is empty: the service account opted out`, wanted: true };
    return { kind: "role", arn, from: `annotation ${key}`, token };
  }
  if (settings.roleArn !== undefined) return { kind: "role", arn: settings.roleArn, from: "AWS_ECR_ROLE_ARN", token };
  return { kind: "node", why: "the service account names no role, and AWS_ECR_ROLE_ARN is not set", wanted: true };
}

const roleArn = /^arn:(aws[a-z-]*):iam::\d{12}:role\/[\x21-\x7e]+$/;

/** Refuses, before a token is sent anywhere, what cannot be a role, or one of a partition the registry is not in. */
export function checkRole(arn: string, from: string, registry: Registry): void {
  const partition = roleArn.exec(arn)?.[1];
  if (partition === undefined) {
    throw new PluginFailure("BadRole", `failed to assume role: ${from} is "${arn}", which is not the ARN of an IAM role`, {
      hint: "Write it as arn:aws:iam::<account>:role/<name>.",
    });
  }
  const expected = partitionOfRegistry(registry)?.name;
  if (expected !== undefined && partition !== expected) {
    throw new PluginFailure(
      "BadRole",
      `failed to assume role: ${from} names a role in partition ${partition}, and the registry is in partition ${expected}`,
      { hint: "A role can pull only from registries of its own partition." },
    );
  }
}

/** A session name that tells, in CloudTrail, which workload pulled. Read from the token unverified: it is a label, not a claim. */
export function sessionName(token: string): string {
  const subject = subjectOf(token);
  const workload = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(subject);
  if (workload === null) return "ecr-credential-provider";
  return `ecr-${workload[1]}.${workload[2]}`.replace(/[^\w+=,.@-]/g, "-").slice(0, 64);
}

function subjectOf(token: string): string {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    const subject = (claims as { readonly sub?: unknown } | null)?.sub;
    return typeof subject === "string" ? subject : "";
  } catch {
    return "";
  }
}
