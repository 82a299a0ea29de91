/** The API server asks the validating webhook about Ingresses: what it refuses, and what it must never refuse. */
import { isBeingDeleted } from "../../src/loadbalancers/admission/review.ts";
import { validateIngress } from "../../src/loadbalancers/ingress/admission.ts";
import { classState } from "../../src/loadbalancers/ingress/seen.ts";
import type { HttpRequest } from "../../src/runtime/http.ts";
import type { EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { applyMergePatch } from "../../src/sandbox/cluster/embedded/patch-merge.ts";

const ingressPath = /^\/apis\/networking\.k8s\.io\/v1\/namespaces\/default\/ingresses(?:\/([^/]+))?$/;

export class IngressWebhook {
  readonly #cluster: EmbeddedCluster;

  constructor(cluster: EmbeddedCluster) {
    this.#cluster = cluster;
  }

  /** Why a write would be refused. */
  refusal({ method, url, body }: Pick<HttpRequest, "method" | "url" | "body">): string | undefined {
    const [found, name] = ingressPath.exec(url.pathname) ?? [];
    if (found === undefined || (method !== "POST" && method !== "PATCH")) return undefined;
    const written = JSON.parse(String(body));
    const oldObject = name && this.#cluster.objects("ingresses.networking.k8s.io").find(({ metadata }) => metadata.name === name);
    if (name !== undefined && !oldObject) return undefined;
    const object = oldObject
      ? applyMergePatch(structuredClone(oldObject) as never, written)
      : { ...written, metadata: { ...written.metadata, namespace: "default" } };
    const request = { operation: oldObject ? "UPDATE" : "CREATE", namespace: "default", name: name ?? "", object, oldObject } as const;
    if (isBeingDeleted(request)) return undefined;
    const classes = this.#cluster.objects("ingressclasses.networking.k8s.io").map((each) => classState(each as never).view);
    const verdict = validateIngress(request, {
      ingressClass: "alb",
      classes,
      forbidsClassAnnotation: false,
      forbidsGroupAnnotation: false,
    });
    return verdict.kind === "deny" ? verdict.message : undefined;
  }
}
