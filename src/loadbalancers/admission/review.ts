/** What the API server asks a webhook, and what it is answered: AdmissionReview, admission.k8s.io/v1. Pure. */
import type { JsonPatchOperation } from "../../kube/patch.ts";

export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** The object's own metadata may lack it while it is being created. */
  readonly namespace: string;
  readonly name: string;
  /** As its author wrote it: a mutating webhook is asked before anybody has looked at its form. */
  readonly object: unknown;
  readonly oldObject: unknown;
}

/** What becomes of an object. */
export type Verdict =
  | { readonly kind: "allow"; readonly patch?: readonly JsonPatchOperation[]; readonly warnings?: readonly string[] }
  /** `category` counts it in metrics. */
  | { readonly kind: "deny"; readonly category: string; readonly message: string }
  /** It could not be judged: it passes, and its author is told. Reconcile looks at it again. */
  | { readonly kind: "pass"; readonly category: string; readonly why: string };

export const allow: Verdict = { kind: "allow" };

/** A question, and the id that its answer has to carry. */
export interface Review {
  readonly uid: string;
  readonly request: AdmissionRequest;
}

/** Undefined when the text is no review. */
export function parseReview(text: string): Review | undefined {
  const { apiVersion, request } = record(parsed(text));
  const { uid, operation, namespace = "", name = "", object, oldObject } = record(request);
  if (apiVersion !== "admission.k8s.io/v1" || typeof uid !== "string" || !isOperation(operation)) return undefined;
  return { uid, request: { operation, namespace: String(namespace), name: String(name), object, oldObject } };
}

/** The text that answers a question. */
export function reviewAnswer(uid: string, verdict: Verdict): object {
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, ...responseOf(verdict) } };
}

function responseOf(verdict: Verdict): object {
  switch (verdict.kind) {
    case "deny":
      return { allowed: false, status: { code: 403, reason: "Forbidden", message: verdict.message } };
    case "pass":
      return { allowed: true, warnings: [warning(verdict.why)] };
    case "allow": {
      const { patch = [], warnings = [] } = verdict;
      const change = patch.length > 0 && { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
      return { allowed: true, ...change, ...(warnings.length > 0 && { warnings: warnings.map(warning) }) };
    }
  }
}

/** Longer ones are cut by the API server, or dropped. */
const maxWarning = 256;
const warning = (text: string) => (text.length > maxWarning ? `${text.slice(0, maxWarning - 1)}…` : text);

/** Whether somebody has asked for the object's deletion: nothing may keep its finalizers from going. */
export function isBeingDeleted({ object }: AdmissionRequest): boolean {
  return record(record(object).metadata).deletionTimestamp !== undefined;
}

/** The value as a record; an empty one where it is none. Objects come here as their authors wrote them. */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const operations = ["CREATE", "UPDATE", "DELETE", "CONNECT"] as const;

function isOperation(value: unknown): value is AdmissionRequest["operation"] {
  return (operations as readonly unknown[]).includes(value);
}
