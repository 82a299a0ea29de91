/** The configuration that makes kubelet run this program for every image in ECR, and for no other. */
import { matchImages } from "./hosts.ts";

export interface ConfigOptions {
  /** Send along the pod's service account token, so that its service account can name a role. */
  readonly serviceAccountTokens: boolean;
}

/** The `CredentialProviderConfig` as plain data. */
export function credentialProviderConfig(options: ConfigOptions) {
  return {
    apiVersion: "kubelet.config.k8s.io/v1",
    kind: "CredentialProviderConfig",
    providers: [
      {
        name: "ecr-credential-provider",
        apiVersion: "credentialprovider.kubelet.k8s.io/v1",
        // Applies only to an answer without a duration, and ours always has one.
        defaultCacheDuration: "0s",
        matchImages: matchImages(),
        ...(options.serviceAccountTokens ? { tokenAttributes } : {}),
      },
    ],
  };
}

const tokenAttributes = {
  serviceAccountTokenAudience: "sts.amazonaws.com",
  cacheType: "ServiceAccount",
  // Static pods have no service account, and pull with the node's role.
  requireServiceAccount: false,
  optionalServiceAccountAnnotationKeys: ["eks.amazonaws.com/ecr-role-arn"],
};

/** The same as YAML. Every string is quoted, because most patterns begin with an asterisk. */
export function asYaml(value: unknown, indent = ""): string {
  if (Array.isArray(value)) return value.map((item) => `${indent}- ${asYaml(item, `${indent}  `).trimStart()}`).join("");
  if (value === null || typeof value !== "object") return `${JSON.stringify(value)}\n`;
  return Object.entries(value)
    .map(([key, item]) => {
      const nested = item !== null && typeof item === "object";
      return `${indent}${key}:${nested ? `\n${asYaml(item, Array.isArray(item) ? indent : `${indent}  `)}` : ` ${asYaml(item)}`}`;
    })
    .join("");
}
