/** Keeps secrets out of whatever leaves the process: logs, Events, error texts, dumps. */

export const masked = "[redacted]";

/** Depth and width beyond which a value is not worth a log line. */
const maxDepth = 8;
const maxItems = 200;
const maxText = 16 * 1024;

/** The text with everything that looks like a secret masked. */
export function redact(text: string): string {
  if (!suspicious.test(text)) return text;
  let clean = text;
  for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement);
  return clean;
}

/**
 * A copy of the value that is safe to print: secret fields masked by name, secret-looking text masked by shape, errors
 * turned into plain objects with their causes, cycles and depths cut.
 */
export function redactValue(value: unknown, options: { readonly stacks?: boolean } = {}): unknown {
  return copy(value, "", 0, new Set(), options.stacks ?? false);
}

/** Whether a field of this name holds a secret, whatever it looks like. */
export function isSecretName(name: string): boolean {
  return secretName.test(name) && !harmlessName.test(name);
}

const secretName =
  /pass(word|wd|phrase)|secret|token|credential|authori[sz]ation|private[-_]?key|key[-_]?data|api[-_]?key|cookie|signature|\bbearer\b|^auth$/i;
/** Names of, paths to and facts about secrets tell nothing. */
const harmlessName =
  /(name|namespace|names|ref|refs|file|path|dir|ttl|type|kind|count|expiry|expiration|expires(At)?|ms|seconds|source|provider|arn|id)$/i;

const value = String.raw`[^\s"'<>,;&)}\]\\]+`;
const secretKeys = [
  "aws_?secret_?access_?key",
  "secret_?access_?key",
  "aws_?session_?token",
  "session_?token",
  "security_?token",
  "x-amz-security-token",
  "x-amz-signature",
  "x-amz-credential",
  "client_?secret",
  "id_?token",
  "access_?token",
  "refresh_?token",
  "web_?identity_?token",
  "authorization_?token",
  "private_?key",
  "password",
  "passwd",
  "signature",
].join("|");

/** One cheap look before the dear ones: most lines hold nothing. */
const suspicious =
  /bearer|basic |eyJ|AWS4-|k8s-aws-v1|QVdTO|PRIVATE KEY|:\/\/[^/\s]*@|secret|token|passw|signature|credential|private_?key/i;

const patterns: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, masked],
  [/\b(bearer\s+)[A-Za-z0-9._~+/=-]{6,}/gi, `$1${masked}`],
  // Base64 of user:password; "basic authentication" is just words.
  [/\b([Bb]asic\s+)(?=\S*[A-Z0-9=+/])[A-Za-z0-9+/=]{8,}/g, `$1${masked}`],
  // Signature version 4 in a header: the credential scope and the signature, wherever they stand in it.
  [/AWS4-(HMAC|ECDSA)[A-Z0-9-]*[^\n"']*/g, `AWS4-$1 ${masked}`],
  // JSON web tokens: service accounts', web identities'.
  [/eyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g, masked],
  // Tokens of the AWS IAM authenticator, and ECR passwords with their "AWS:" in base64.
  [/k8s-aws-v1\.[\w-]+/g, masked],
  [/\bQVdTO[\w+/=]{20,}/g, masked],
  // user:password@ before a host.
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${masked}@`],
  // key=value, "key":"value", key: value, <key>value</key>, with the quotes escaped or not.
  [new RegExp(String.raw`\b(${secretKeys})(\\?["']?\s*[:=>]\s*\\?["']?)(?!\[redacted\])${value}`, "gi"), `$1$2${masked}`],
  [new RegExp(String.raw`\b(token)(\\?["']?=\\?["']?|\\?["']\s*:\s*\\?["'])(?!\[redacted\])${value}`, "gi"), `$1$2${masked}`],
];

function copy(item: unknown, name: string, depth: number, above: ReadonlySet<object>, stacks: boolean): unknown {
  if (typeof item === "string") return redact(item.length > maxText ? `${item.slice(0, maxText)}… (${item.length} characters)` : item);
  if (typeof item === "bigint") return String(item);
  if (typeof item === "function" || typeof item === "symbol") return undefined;
  if (typeof item !== "object" || item === null) return item;
  if (above.has(item)) return "[circular]";
  if (depth > maxDepth) return "[deep]";
  const within = new Set(above).add(item);
  const next = (child: unknown, key: string) =>
    isSecretName(key) && typeof child !== "number" && typeof child !== "boolean" && child !== undefined && child !== null
      ? masked
      : copy(child, key, depth + 1, within, stacks);
  if (item instanceof Error) return copyError(item, next, stacks);
  if (item instanceof Date) return Number.isNaN(item.getTime()) ? "invalid date" : item.toISOString();
  if (item instanceof URL) return redact(item.href);
  if (ArrayBuffer.isView(item)) return `[${item.byteLength} bytes]`;
  if (item instanceof Map)
    return copyEntries(
      [...item].map(([key, child]) => [String(key), child]),
      next,
    );
  if (Array.isArray(item) || item instanceof Set) {
    const items = [...item];
    const kept = items.slice(0, maxItems).map((child) => next(child, name));
    return items.length > maxItems ? [...kept, `… (${items.length} items)`] : kept;
  }
  return copyEntries(Object.entries(item), next);
}

function copyEntries(entries: readonly (readonly [string, unknown])[], next: (child: unknown, key: string) => unknown): object {
  return Object.fromEntries(entries.slice(0, maxItems).map(([key, child]) => [key, next(child, key)]));
}

/** Name, message, code, what else the error carries, and its causes. */
function copyError(error: Error, next: (child: unknown, key: string) => unknown, stacks: boolean): object {
  const { name, message, stack, cause, ...rest } = error;
  return {
    name: error.name,
    message: redact(error.message),
    ...copyEntries(Object.entries(rest), next),
    ...(stacks && error.stack !== undefined && { stack: redact(error.stack) }),
    ...(error instanceof AggregateError && { errors: next(error.errors, "errors") }),
    ...(error.cause !== undefined && { cause: next(error.cause, "cause") }),
  };
}
