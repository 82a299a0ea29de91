/** The webhook of volume labels: optional, served by every replica, and never in anybody's way. */
import type { Cloud } from "../../aws/cloud.ts";
import type { PersistentVolume } from "../../kube/types.ts";
import { type AdmissionRequest, allow, type Verdict } from "../../loadbalancers/admission/review.ts";
import { type CertificateSource, serveWebhooks } from "../../loadbalancers/admission/serving.ts";
import { webhookTrustController } from "../../loadbalancers/admission/trust-controller.ts";
import type { Webhook } from "../../loadbalancers/admission/webhook.ts";
import type { ControllerEntry, StandbyContext } from "../../process/program.ts";
import type { Serving } from "../../runtime/serving.ts";
import { labelsOfNewVolume } from "../../volumes/labels/new-volume.ts";
import type { DriverValues } from "./validate.ts";

const name = "mpersistentvolume.ebs.csi.aws.com";

function volumeWebhook(cloud: Cloud): Webhook {
  return {
    name,
    path: "/mutate-v1-persistentvolume",
    phase: "mutating",
    rule: { group: "", version: "v1", resource: "persistentvolumes", operations: ["CREATE"] },
    answer: (request, signal) => withLabels(request, cloud, signal),
  };
}

async function withLabels({ object }: AdmissionRequest, cloud: Cloud, signal: AbortSignal): Promise<Verdict> {
  const labels = await labelsOfNewVolume(object as PersistentVolume, cloud, signal);
  if (labels === undefined) return allow;
  if ("patch" in labels) return { kind: "allow", patch: labels.patch };
  return { kind: "pass", category: "volume_unknown", why: `${labels.unknown}: zone and region are added once it does` };
}

/** Answers on every replica. */
export function startVolumeWebhook(
  { host, kube, cloud, health, signal }: StandbyContext,
  values: DriverValues,
  source: CertificateSource,
): Promise<Pick<Serving, "stop">> {
  return serveWebhooks({
    host: { ...host, log: host.log.with({ logger: "webhooks" }) },
    kube,
    health,
    signal,
    port: values["webhook-bind-port"] ?? 0,
    source,
    metricPrefix: "aws_ebs_csi_webhook",
    webhooks: [volumeWebhook(cloud)],
  });
}

/** The leader's part: it makes the certificate and publishes whom to trust. */
export function volumeTrustEntry(
  component: string,
  place: { readonly namespace: string; readonly secret: string },
  configuration: string,
): ControllerEntry {
  return {
    name: "webhook-trust",
    client: component,
    eventSource: component,
    metric: undefined,
    queue: "webhook-trust",
    make: async ({ host, kube }) => {
      const controller = webhookTrustController({ host, kube, place: { ...place, configuration }, webhooks: [name] });
      return { kind: "run", controllers: [{ controller }] };
    },
  };
}
