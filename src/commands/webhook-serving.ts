/** What programs that serve webhooks share: the flags of their port, and where its certificate comes from. */
import type { CertificateSource } from "../loadbalancers/admission/serving.ts";
import { type FlagValues, flag } from "../runtime/flags.ts";
import { int, string } from "../runtime/flags-kinds.ts";

/** `configuration` is the usual name of the API server's configurations of them. */
export function webhookServingFlags(configuration: string) {
  return {
    "webhook-bind-port": flag(
      int,
      9443,
      "Port to serve webhooks on, over HTTPS, where --webhook-secret or --webhook-cert-dir is set. 0: serve none.",
    ),
    "webhook-cert-dir": flag(string, "", "Directory with the certificate of webhooks, if it is created and published by other means."),
    "webhook-cert-file": flag(string, "tls.crt", "The certificate in that directory."),
    "webhook-configuration": flag(
      string,
      configuration,
      "Name of the MutatingWebhookConfiguration and the ValidatingWebhookConfiguration whose caBundle is written, with --webhook-secret.",
    ),
    "webhook-key-file": flag(string, "tls.key", "The key in that directory."),
    "webhook-secret": flag(
      string,
      "",
      "Secret in the Lease's namespace, empty at first, in which the certificate of webhooks is kept. It is made, published and replaced in time by this program.",
    ),
  };
}

export type WebhookServingValues = Partial<FlagValues<ReturnType<typeof webhookServingFlags>>>;

/** Where certificates come from; undefined where no webhook is served. */
export function certificateSource(values: WebhookServingValues, namespace: string): CertificateSource | undefined {
  const directory = values["webhook-cert-dir"];
  if (values["webhook-bind-port"] === 0) return undefined;
  if (values["webhook-secret"]) return { kind: "secret", place: { namespace, secret: values["webhook-secret"] } };
  if (!directory) return undefined;
  const file = (flagName: "webhook-cert-file" | "webhook-key-file") => `${directory.replace(/\/$/, "")}/${values[flagName]}`;
  return { kind: "files", certFile: file("webhook-cert-file"), keyFile: file("webhook-key-file") };
}
