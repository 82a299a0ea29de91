/** Gives new Services of type LoadBalancer the class of this controller, where they name none. */
import { type AdmissionRequest, allow, record, type Verdict } from "./review.ts";
import type { Webhook } from "./webhook.ts";

export function serviceClassWebhook(loadBalancerClass: string): Webhook {
  return {
    name: "mservice.elbv2.k8s.aws",
    path: "/mutate-v1-service",
    phase: "mutating",
    rule: { group: "", version: "v1", resource: "services", operations: ["CREATE"] },
    answer: (request) => withClass(request, loadBalancerClass),
  };
}

/** An update is asked about only where the operator has asked for it: then a class that was there stays. A class is never altered. */
function withClass({ operation, object, oldObject }: AdmissionRequest, loadBalancerClass: string): Verdict {
  const { type, loadBalancerClass: present } = record(record(object).spec);
  if (type !== "LoadBalancer" || present) return allow;
  const value = operation === "CREATE" ? loadBalancerClass : record(record(oldObject).spec).loadBalancerClass;
  return value ? { kind: "allow", patch: [{ op: "add", path: "/spec/loadBalancerClass", value }] } : allow;
}
