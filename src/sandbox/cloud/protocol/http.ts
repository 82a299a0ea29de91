import type { HttpRequest, HttpResponse } from "../../../runtime/http.ts";
import type { Answer } from "./protocol.ts";

/** An answer as the rest of the project sees HTTP. */
export function respond(answer: Answer): HttpResponse {
  const bytes = Buffer.from(answer.body, "utf8");
  return {
    status: answer.status,
    headers: { ...answer.headers, "content-length": String(bytes.length) },
    body: (async function* () {
      if (bytes.length > 0) yield bytes;
    })(),
  };
}

/** The body of a request as text. */
export function requestText(request: HttpRequest): string {
  const { body } = request;
  if (body === undefined) return "";
  return typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}
