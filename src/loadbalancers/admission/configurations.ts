/** The API server's configurations of webhooks, as far as they are read and written here. */
import { type KubeObject, resource } from "../../kube/resource.ts";

const group = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false } as const;

export const mutatingWebhookConfigurations = resource<WebhookConfiguration>({
  ...group,
  plural: "mutatingwebhookconfigurations",
  kind: "MutatingWebhookConfiguration",
});

export const validatingWebhookConfigurations = resource<WebhookConfiguration>({
  ...group,
  plural: "validatingwebhookconfigurations",
  kind: "ValidatingWebhookConfiguration",
});

/** Of both phases. */
export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly ConfiguredWebhook[];
}

/** How an API server reaches one webhook. */
export interface ConfiguredWebhook {
  readonly name: string;
  readonly clientConfig?: {
    readonly caBundle?: string;
    readonly url?: string;
    readonly service?: { readonly name: string; readonly namespace: string };
  };
}

/** The host that the webhook's certificate has to name; undefined where it is reached by nothing. Pure. */
export function hostOf({ clientConfig: { url, service } = {} }: ConfiguredWebhook): string | undefined {
  if (service) return `${service.name}.${service.namespace}.svc`;
  return url === undefined ? undefined : URL.parse(url)?.hostname.replace(/^\[|\]$/g, "");
}
