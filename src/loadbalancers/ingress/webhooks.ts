/** The webhooks of Ingresses and of parameters of their classes. */
import { unlessAborted } from "../../runtime/world.ts";
import type { Webhook } from "../admission/webhook.ts";
import { type IngressAdmission, validateIngress, validateParams } from "./admission.ts";
import type { Classes } from "./seen.ts";

export interface IngressWebhookParts extends Omit<IngressAdmission, "classes"> {
  readonly classes: Classes;
}

const operations = ["CREATE", "UPDATE"] as const;

export function ingressWebhooks({ classes, ...rest }: IngressWebhookParts): readonly Webhook[] {
  return [
    {
      name: "vingress.elbv2.k8s.aws",
      path: "/validate-networking-v1-ingress",
      phase: "validating",
      rule: { group: "networking.k8s.io", version: "v1", resource: "ingresses", operations },
      async answer(request, signal) {
        await unlessAborted(signal, classes.synced);
        return validateIngress(request, { ...rest, classes: classes.list().map(({ view }) => view) });
      },
    },
    {
      name: "vingressclassparams.elbv2.k8s.aws",
      path: "/validate-elbv2-k8s-aws-v1beta1-ingressclassparams",
      phase: "validating",
      rule: { group: "elbv2.k8s.aws", version: "v1beta1", resource: "ingressclassparams", operations },
      answer: validateParams,
    },
  ];
}
