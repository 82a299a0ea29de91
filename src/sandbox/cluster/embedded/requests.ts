/** What a request asks for: its path, its options, its body, and the form of answer it accepts. */
import { parse as parseYaml } from "yaml";
import type { HttpRequest } from "../../../runtime/http.ts";
import { asObject, isObject, type Json, type JsonObject } from "./json.ts";
import { objectFromProtobuf } from "./protobuf.ts";
import { badRequest, fieldErrors, invalidOptions } from "./status.ts";

/** A path under /api or /apis, taken apart. */
export interface Target {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string;
  /** Asked for with the old `/watch/` prefix. */
  readonly watching: boolean;
}

export interface Call {
  readonly method: string;
  readonly target: Target;
  readonly query: URLSearchParams;
  readonly request: HttpRequest;
  readonly form: Form;
}

export type Form = "plain" | "table" | "metadata";

/** The parts of a resource path; undefined when the path is no such thing. */
export function targetOf(path: string): Target | undefined {
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const [root, ...afterRoot] = parts;
  const core = root === "api";
  if (!core && root !== "apis") return undefined;
  const [group, version, ...tail] = core ? ["", ...afterRoot] : afterRoot;
  if (group === undefined || version === undefined || tail.length === 0) return undefined;
  const watching = tail[0] === "watch" && tail.length > 1;
  const rest = watching ? tail.slice(1) : tail;
  const base = { group, version, watching };
  if (rest[0] === "namespaces" && rest.length >= 3 && rest[2] !== "status" && rest[2] !== "finalize") {
    const [, namespace, plural, name, ...deeper] = rest;
    return { ...base, namespace, plural: plural!, name, subresource: deeper.join("/") };
  }
  const [plural, name, ...deeper] = rest;
  return { ...base, namespace: undefined, plural: plural!, name, subresource: deeper.join("/") };
}

/** Whether the answer is wanted as a table, as metadata alone, or as it is. */
export function formOf(accept: string | undefined): Form {
  for (const part of (accept ?? "").split(",")) {
    const [type, ...parameters] = part.split(";").map((one) => one.trim());
    if (type !== "application/json") continue;
    if (parameters.includes("as=Table")) return "table";
    if (parameters.some((one) => one.startsWith("as=PartialObjectMetadata"))) return "metadata";
    return "plain";
  }
  return "plain";
}

/** The body as a JSON or YAML object. */
export function bodyOf(request: HttpRequest, kind: string): JsonObject {
  const value = parsedBody(request, kind);
  if (!isObject(value)) throw badRequest(`the object provided is unrecognized (must be of type ${kind})`);
  return value;
}

/** The body as any JSON or YAML value, lists included. */
export function parsedBody(request: HttpRequest, kind: string): Json {
  const text =
    request.body === undefined ? "" : typeof request.body === "string" ? request.body : Buffer.from(request.body).toString("utf8");
  const type = contentTypeOf(request);
  if (type === "application/vnd.kubernetes.protobuf") return objectFromProtobuf(Buffer.from(request.body ?? ""));
  try {
    return (type.includes("yaml") ? parseYaml(text) : JSON.parse(text)) as Json;
  } catch (error) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${error}`,
    );
  }
}

/** Media type alone, in lower case. */
export function contentTypeOf(request: HttpRequest): string {
  return (request.headers["content-type"] ?? "application/json").split(";")[0]!.trim().toLowerCase();
}

/** Whether the write is only to be tried; rejects values other than `All`. */
export function isDryRun(query: URLSearchParams, optionsKind: string, fromBody?: Json): boolean {
  const values = [...query.getAll("dryRun"), ...(Array.isArray(fromBody) ? fromBody.map(String) : [])];
  if (values.some((value) => value !== "All")) throw invalidOptions(optionsKind, fieldErrors.unsupported("dryRun", values, ["All"]));
  return values.length > 0;
}

/** Who writes, for the record of ownership: asked for by name, or the program's name from its user agent. */
export function managerOf(call: Call): string {
  return call.query.get("fieldManager") || (call.request.headers["user-agent"] ?? "").split("/")[0] || "unknown";
}

/** A whole number from the query; undefined when it is not given. */
export function numberFrom(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** What a delete asks for, from its query and its body. */
export function deleteOptionsOf(call: Call): {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly preconditions: JsonObject;
} {
  const body = call.request.body === undefined || call.request.body.length === 0 ? {} : bodyOf(call.request, "DeleteOptions");
  const policy = call.query.get("propagationPolicy") ?? (typeof body.propagationPolicy === "string" ? body.propagationPolicy : undefined);
  if (policy !== undefined && !["Foreground", "Background", "Orphan"].includes(policy)) {
    throw invalidOptions(
      "DeleteOptions",
      fieldErrors.unsupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]),
    );
  }
  const grace = numberFrom(call.query, "gracePeriodSeconds") ?? body.gracePeriodSeconds;
  return {
    dryRun: isDryRun(call.query, "DeleteOptions", body.dryRun),
    gracePeriodSeconds: typeof grace === "number" ? grace : undefined,
    propagationPolicy: policy,
    preconditions: asObject(body.preconditions),
  };
}
