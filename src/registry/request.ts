/** What kubelet asks on standard input. */
import { PluginFailure } from "./errors.ts";

export interface CredentialRequest {
  /** The answer must carry the same one. */
  readonly apiVersion: string;
  readonly image: string;
  /** Undefined when kubelet sent none; never empty. */
  readonly serviceAccountToken: string | undefined;
  readonly serviceAccountAnnotations: Readonly<Record<string, string>>;
}

const group = "credentialprovider.kubelet.k8s.io";
const requestKind = "CredentialProviderRequest";
const responseKind = "CredentialProviderResponse";

/**
 * Reads a request, as strict as the decoder kubelet's authors use, and more careful with what it says: the input may
 * hold a pod's token, so no message ever quotes it.
 */
export function parseRequest(text: string): CredentialRequest {
  const document = parseObject(text);
  const apiVersion = inAnyCase(document, "apiVersion") ?? "";
  const kind = inAnyCase(document, "kind") ?? "";
  if (apiVersion.split("/").length > 2) throw bad(`unexpected GroupVersion string: ${clipped(apiVersion)}`);
  const version = apiVersion.startsWith(`${group}/`) ? apiVersion.slice(group.length + 1) : undefined;
  if (version !== "v1" && version !== "v1beta1" && version !== "v1alpha1") {
    throw bad(
      `group version ${clipped(apiVersion)} is not supported`,
      `The provider's apiVersion in kubelet's configuration must be ${group}/v1.`,
    );
  }
  if (kind === "") throw bad("Object 'Kind' is missing in the request");
  if (kind === responseKind) throw bad(`kind was "${responseKind}", expected ${requestKind}`);
  if (kind !== requestKind) throw bad(`no kind "${clipped(kind)}" is registered for version "${apiVersion}"`);

  const image = stringField(document, "image") ?? "";
  // The older versions know nothing of service accounts.
  const token = version === "v1" ? stringField(document, "serviceAccountToken") : undefined;
  const annotations = version === "v1" ? annotationsField(document) : {};
  if (image === "") throw bad("image in plugin request was empty");
  return { apiVersion, image, serviceAccountToken: token || undefined, serviceAccountAnnotations: annotations };
}

type Json = Readonly<Record<string, unknown>>;

function parseObject(text: string): Json {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // The engine's own message quotes its input.
    throw unparsable(text.trim() === "" ? "unexpected end of JSON input" : "the request is not one complete JSON document");
  }
  if (document === null) return {};
  if (typeof document !== "object" || Array.isArray(document)) throw unparsable(`expected an object, found ${typeName(document)}`);
  return document as Json;
}

/** The decoder of the type fields, unlike that of the others, does not mind the case of their names. */
function inAnyCase(document: Json, name: string): string | undefined {
  let found: string | undefined;
  for (const [key, value] of Object.entries(document)) {
    if (key.toLowerCase() !== name.toLowerCase() || value === null) continue;
    if (typeof value !== "string") throw unparsable(`field ${name} must be a string, found ${typeName(value)}`);
    found = value;
  }
  return found;
}

function stringField(document: Json, name: string): string | undefined {
  const value = Object.hasOwn(document, name) ? document[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw bad(`cannot decode the request: field ${name} must be a string, found ${typeName(value)}`);
  return value;
}

function annotationsField(document: Json): Record<string, string> {
  const name = "serviceAccountAnnotations";
  const value = Object.hasOwn(document, name) ? document[name] : undefined;
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw bad(`cannot decode the request: field ${name} must be an object, found ${typeName(value)}`);
  }
  const annotations: Record<string, string> = Object.create(null);
  for (const [key, annotation] of Object.entries(value)) {
    if (annotation !== null && typeof annotation !== "string") {
      throw bad(`cannot decode the request: the values of field ${name} must be strings, found ${typeName(annotation)}`);
    }
    annotations[key] = annotation ?? "";
  }
  return annotations;
}

function typeName(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

function clipped(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function unparsable(detail: string): PluginFailure {
  return bad(`couldn't get version/kind; json parse error: ${detail}`);
}

function bad(message: string, hint?: string): PluginFailure {
  return new PluginFailure("BadRequest", message, hint === undefined ? {} : { hint });
}
