/** Harmless calls for what pulling images takes, by the name IAM knows each permission by. */
import type { AnyAction } from "../aws/actions.ts";
import { batchGetImage, getAuthorizationToken, getDownloadUrl, getPublicAuthorizationToken } from "../aws/registry-actions.ts";

export interface RegistryProbe {
  readonly action: AnyAction;
  readonly input: object;
  /** The only region that answers; the cluster's own unless given. */
  readonly region?: string;
}

/** Nobody has it: whoever may pull is told so, and whoever may not is told that first. */
const repository = { repositoryName: "fairlead-doctor" };
const publicLogin: RegistryProbe = { action: getPublicAuthorizationToken, input: {}, region: "us-east-1" };

/** Every action of the registry's policy. */
export const registryProbes: Readonly<Record<string, RegistryProbe>> = {
  "ecr:GetAuthorizationToken": { action: getAuthorizationToken, input: {} },
  "ecr:BatchGetImage": { action: batchGetImage, input: { ...repository, imageIds: [{ imageTag: "none" }] } },
  "ecr:GetDownloadUrlForLayer": { action: getDownloadUrl, input: { ...repository, layerDigest: `sha256:${"0".repeat(64)}` } },
  "ecr-public:GetAuthorizationToken": publicLogin,
  // Not called by anybody: checked on the way of the public login.
  "sts:GetServiceBearerToken": publicLogin,
};
