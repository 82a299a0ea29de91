import type { HttpRequest } from "../../../runtime/http.ts";

/** Who says to have signed a request, and for what. The signature itself is not recomputed: the cloud keeps no secrets. */
export interface SignatureClaim {
  readonly accessKeyId: string;
  readonly region: string;
  readonly service: string;
  readonly sessionToken: string | undefined;
  /** `20260101T000000Z`, as sent. */
  readonly date: string | undefined;
}

/** The claim of a request signed with version 4, in its header or its query string; undefined when there is none, or it is malformed. */
export function signatureClaim(request: HttpRequest): SignatureClaim | undefined {
  const header = request.headers.authorization;
  const presigned = request.url.searchParams;
  const credential =
    header === undefined
      ? presigned.get("X-Amz-Credential")
      : /^AWS4-HMAC-SHA256 (?=.*SignedHeaders=[^,\s]+)(?=.*Signature=[0-9a-f]{64}).*Credential=([^,\s]+)/.exec(header)?.[1];
  const [accessKeyId, , region, service, terminator] = credential?.split("/") ?? [];
  if (!accessKeyId || !region || !service || terminator !== "aws4_request") return undefined;
  return {
    accessKeyId,
    region,
    service,
    sessionToken: request.headers["x-amz-security-token"] ?? presigned.get("X-Amz-Security-Token") ?? undefined,
    date: request.headers["x-amz-date"] ?? presigned.get("X-Amz-Date") ?? undefined,
  };
}

/** Milliseconds since the epoch of an `x-amz-date`. */
export function amzDate(text: string): number | undefined {
  const parts = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(text);
  if (parts === null) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number) as [number, number, number, number, number, number];
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
