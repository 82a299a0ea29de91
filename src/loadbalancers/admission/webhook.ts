/** Webhooks as rows: where each is served, what it is asked about, how it answers. A door adds its own. */
import type { Counter } from "prom-client";
import type { Host } from "../../runtime/host.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { counter } from "../../runtime/metrics.ts";
import { redact } from "../../runtime/redact.ts";
import { json, type Route, text } from "../../runtime/routes.ts";
import { within } from "../../runtime/world.ts";
import { type AdmissionRequest, allow, isBeingDeleted, parseReview, reviewAnswer, type Verdict } from "./review.ts";

/** One webhook. Configurations of the API server name it by `name` and reach it by `path`. */
export interface Webhook {
  readonly name: string;
  readonly path: string;
  readonly phase: "mutating" | "validating";
  readonly rule: {
    readonly group: string;
    readonly version: string;
    readonly resource: string;
    readonly operations: readonly ("CREATE" | "UPDATE")[];
  };
  /** Objects that are being deleted are never asked about. A rejection lets the object pass. */
  answer(request: AdmissionRequest, signal: AbortSignal): Verdict | Promise<Verdict>;
}

/** The API server waits for ten seconds. */
const limitMs = 8_000;

/**
 * The routes of these webhooks. They fail open: what cannot be judged in time passes, and reconcile judges it, so that
 * neither AWS nor this process is ever in the way of a pod.
 */
export function webhookRoutes(webhooks: readonly Webhook[], host: Host, metricPrefix = "awslbc_webhook"): readonly Route[] {
  const failures = {
    mutating: failureCounter(host, metricPrefix, "mutation"),
    validating: failureCounter(host, metricPrefix, "validation"),
  };
  return webhooks.map((webhook) => ({
    path: webhook.path,
    methods: ["POST"],
    async answer({ body, signal }) {
      const review = parseReview(body);
      if (review === undefined) return text(400, "the request is no AdmissionReview of admission.k8s.io/v1\n");
      const verdict = await judge(webhook, review.request, host, signal);
      if (verdict.kind !== "allow") failures[webhook.phase].inc({ webhook_name: webhook.path, error_category: verdict.category });
      return json(200, reviewAnswer(review.uid, verdict));
    },
  }));
}

async function judge(webhook: Webhook, request: AdmissionRequest, host: Host, signal: AbortSignal): Promise<Verdict> {
  if (request.operation === "DELETE" || isBeingDeleted(request)) return allow;
  const subject = `${request.namespace}/${request.name}`;
  try {
    const verdict = await within(host.world.clock, limitMs, `${webhook.name} for ${subject}`, signal, async (until) =>
      webhook.answer(request, until),
    );
    if (verdict.kind === "pass") host.log.warn("cannot judge an object; it passes", { webhook: webhook.name, subject, why: verdict.why });
    return verdict;
  } catch (error) {
    host.log.error("cannot judge an object; it passes", { webhook: webhook.name, subject, error });
    return { kind: "pass", category: "unknown", why: `${webhook.name} cannot judge this now: ${redact(messageOf(error))}` };
  }
}

function failureCounter({ metrics }: Host, prefix: string, what: "mutation" | "validation"): Counter<"webhook_name" | "error_category"> {
  return counter(metrics, {
    name: `${prefix}_${what}_failure_total`,
    help: `Counts the number of webhook ${what} failures, by webhook and category.`,
    labels: ["webhook_name", "error_category"],
  });
}
