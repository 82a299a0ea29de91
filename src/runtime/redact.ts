/** Keeps secrets out of whatever leaves the process: logs, Events, conditions, error texts, dumps. */
import { maskKnownSecrets } from "./known-secrets.ts";
import { findSecrets, isSecretName, masked } from "./secret-shapes.ts";

/** Depth, width and length beyond which a value is not worth a log line. */
const maxDepth = 8;
const maxItems = 200;
const maxText = 16 * 1024;
/** Of all texts in one value together. */
const maxTexts = 64 * 1024;
/** Looked at beyond what is kept, so that a secret is recognised that the cut goes through. */
const beyond = 4 * 1024;

/**
 * The text with every secret masked that is known, and everything that looks like one; what is too long to read is cut.
 * `strict` masks more, for what a foreign program has printed.
 */
export function redact(text: string, options: { readonly strict?: boolean } = {}): string {
  // Cut first: the work must not depend on how long a text somebody else has written.
  const known = maskKnownSecrets(text.slice(0, maxText + beyond), masked);
  const { spans } = findSecrets(known, options.strict);
  // However much was masked before it: what stands near the cut may be the beginning of a secret that nobody can recognise.
  const limit = text.length > maxText + beyond ? known.length - beyond : known.length;
  let clean = "";
  let at = 0;
  for (const { from, to } of spans) {
    if (from >= limit) break;
    clean += known.slice(at, from) + masked;
    at = to;
  }
  clean += known.slice(at, Math.max(at, limit));
  return text.length > maxText ? `${clean.slice(0, maxText)}… (${text.length} characters)` : clean;
}

/** As `redact`, for what a command prints: nothing of it is cut, however long, as long as its lines are not. */
export function redactLines(text: string): string {
  const parts: string[] = [];
  let part = "";
  for (const line of text.split(/(?<=\n)/)) {
    if (part.length + line.length > maxText) {
      parts.push(part);
      part = "";
    }
    part += line;
  }
  return [...parts, part].map((each) => redact(each)).join("");
}

/**
 * A copy of the value that is safe to print: secret fields masked by name, secret-looking text masked by shape, errors
 * turned into plain objects with their causes, cycles and depths cut.
 */
export function redactValue(value: unknown, options: { readonly stacks?: boolean } = {}): unknown {
  return new Copy(options.stacks ?? false).of(value, "", 0, new Set());
}

class Copy {
  readonly #stacks: boolean;
  #textsLeft = maxTexts;

  constructor(stacks: boolean) {
    this.#stacks = stacks;
  }

  of(item: unknown, name: string, depth: number, above: ReadonlySet<object>): unknown {
    if (typeof item === "string") return this.#text(item);
    if (typeof item === "bigint") return String(item);
    if (typeof item === "function" || typeof item === "symbol") return undefined;
    if (typeof item !== "object" || item === null) return item;
    if (above.has(item)) return "[circular]";
    if (depth > maxDepth) return "[deep]";
    const within = new Set(above).add(item);
    const next = (child: unknown, key: string) =>
      isSecretName(key) && typeof child !== "number" && typeof child !== "boolean" && child !== undefined && child !== null
        ? masked
        : this.of(child, key, depth + 1, within);
    if (item instanceof Error) return this.#error(item, next);
    if (item instanceof Date) return Number.isNaN(item.getTime()) ? "invalid date" : item.toISOString();
    if (item instanceof URL) return this.#text(item.href);
    if (ArrayBuffer.isView(item)) return `[${item.byteLength} bytes]`;
    if (item instanceof Map)
      return this.#entries(
        [...item].map(([key, child]) => [String(key), child]),
        next,
      );
    if (Array.isArray(item) || item instanceof Set) {
      const items = [...item];
      const kept = items.slice(0, maxItems).map((child) => next(child, name));
      return items.length > maxItems ? [...kept, `… (${items.length} items)`] : kept;
    }
    return this.#entries(Object.entries(item), next);
  }

  #text(text: string): string {
    if (this.#textsLeft <= 0 && text.length > 0) return `[${text.length} characters]`;
    this.#textsLeft -= Math.min(text.length, maxText);
    return redact(text);
  }

  #entries(entries: readonly (readonly [string, unknown])[], next: (child: unknown, key: string) => unknown): object {
    return Object.fromEntries(entries.slice(0, maxItems).map(([key, child]) => [key, next(child, key)]));
  }

  /** Name, message, code, what else the error carries, and its causes. */
  #error(error: Error, next: (child: unknown, key: string) => unknown): object {
    const { name, message, stack, cause, ...rest } = error;
    return {
      name: error.name,
      message: this.#text(error.message),
      ...this.#entries(Object.entries(rest), next),
      ...(this.#stacks && error.stack !== undefined && { stack: this.#text(error.stack) }),
      ...(error instanceof AggregateError && { errors: next(error.errors, "errors") }),
      ...(error.cause !== undefined && { cause: next(error.cause, "cause") }),
    };
  }
}
