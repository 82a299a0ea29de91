/** The webhooks of bindings and of the pods behind them. */
import type { Cloud } from "../../aws/cloud.ts";
import { unlessAborted } from "../../runtime/world.ts";
import { allow } from "../admission/review.ts";
import type { Webhook } from "../admission/webhook.ts";
import type { Services } from "../service-state.ts";
import type { BindingSpec, Bindings } from "./binding.ts";
import { type BindingAdmissionParts, defaultBinding, validateBinding } from "./binding-admission.ts";
import { gateInjection } from "./gate-injection.ts";
import { otherBindings } from "./other-bindings.ts";

export interface BindingWebhookParts {
  readonly bindings: Bindings;
  readonly services: Services;
  cloudOf(spec: BindingSpec): Cloud;
  readonly vpc: string | undefined;
  /** Whether pods are given readiness gates. */
  readonly injectsGates: boolean;
}

const binding = { group: "elbv2.k8s.aws", version: "v1beta1", resource: "targetgroupbindings", operations: ["CREATE", "UPDATE"] } as const;

export function bindingWebhooks(parts: BindingWebhookParts): readonly Webhook[] {
  const { bindings, services, cloudOf, vpc, injectsGates } = parts;
  const admission: BindingAdmissionParts = { cloudOf, vpc, others: (arn, uid) => otherBindings(bindings, arn, uid) };
  return [
    {
      name: "mpod.elbv2.k8s.aws",
      path: "/mutate-v1-pod",
      phase: "mutating",
      rule: { group: "", version: "v1", resource: "pods", operations: ["CREATE"] },
      async answer({ namespace, object }, signal) {
        if (!injectsGates) return allow;
        await unlessAborted(signal, Promise.all([bindings.synced, services.synced]));
        const own = bindings.list().filter(({ metadata }) => metadata.namespace === namespace);
        return {
          kind: "allow",
          patch: gateInjection(object, { bindings: own, service: (name) => services.get(`${namespace}/${name}`)?.view }),
        };
      },
    },
    {
      name: "mtargetgroupbinding.elbv2.k8s.aws",
      path: "/mutate-elbv2-k8s-aws-v1beta1-targetgroupbinding",
      phase: "mutating",
      rule: binding,
      answer: (request, signal) => defaultBinding(request, admission, signal),
    },
    {
      name: "vtargetgroupbinding.elbv2.k8s.aws",
      path: "/validate-elbv2-k8s-aws-v1beta1-targetgroupbinding",
      phase: "validating",
      rule: binding,
      async answer(request, signal) {
        await unlessAborted(signal, bindings.synced);
        return validateBinding(request, admission, signal);
      },
    },
  ];
}
