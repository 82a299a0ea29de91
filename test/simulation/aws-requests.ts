/** What a request asks of AWS, in each of its protocols: a form, JSON with the action in a header, or a path. */
import type { HttpRequest } from "../../src/runtime/http.ts";

export function actionOf(request: HttpRequest): string {
  const target = request.headers["x-amz-target"];
  if (target !== undefined) return target.split(".").at(-1) ?? "";
  return new URLSearchParams(bodyOf(request)).get("Action") ?? `${request.method} ${request.url.pathname}`;
}

/** Whether it changes nothing. */
export const isRead = (request: HttpRequest): boolean => /^(Describe|List|GET )/.test(actionOf(request));

/** The form that a request carries; empty of those in other protocols. The SDK's bodies of JSON are no strings, and say so to the console. */
export function bodyOf({ headers, body }: HttpRequest): string {
  return headers["x-amz-target"] === undefined && typeof body === "string" ? body : "";
}
