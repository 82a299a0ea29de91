/** What the proxy forwards and whom it asks about, as the variable or the file says it. */
import { parseDocument } from "yaml";
import * as z from "zod";

/** What a caller must be allowed to do with what, in the words of a SubjectAccessReview. */
export interface ResourceAttributes {
  readonly namespace?: string;
  readonly apiGroup?: string;
  readonly apiVersion?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
}

export interface Upstream {
  readonly upstream: URL;
  /** With a slash at its end everything below it, else itself alone. */
  readonly path: string;
  readonly attributes: ResourceAttributes;
}

export interface ProxyConfig {
  /** Patterns of whole paths that anybody may ask for. */
  readonly excludePaths: readonly string[];
  readonly upstreams: readonly Upstream[];
}

/** The configuration cannot be used. */
export class ProxyConfigInvalid extends Error {
  override readonly name = "ProxyConfigInvalid";
}

const attributes = z.strictObject({
  namespace: z.string().optional(),
  apiGroup: z.string().optional(),
  apiVersion: z.string().optional(),
  resource: z.string().min(1),
  subresource: z.string().optional(),
  name: z.string().optional(),
});

const shape = z.strictObject({
  excludePaths: z.array(z.string()).default([]),
  upstreams: z
    .array(
      z.strictObject({
        upstream: z.url({ protocol: /^https?$/ }),
        path: z.string().startsWith("/"),
        authorization: z.strictObject({ resourceAttributes: attributes }),
      }),
    )
    .min(1),
});

/** Reads it. Throws `ProxyConfigInvalid` with every problem, each with the path of its key. */
export function readProxyConfig(text: string): ProxyConfig {
  const document = parseDocument(text);
  if (document.errors.length > 0) throw new ProxyConfigInvalid(document.errors.map(({ message }) => message).join("; "));
  const read = shape.safeParse(document.toJS() ?? {});
  if (!read.success) {
    throw new ProxyConfigInvalid(read.error.issues.map(({ path, message }) => `${path.join(".") || "it"}: ${message}`).join("; "));
  }
  const { excludePaths, upstreams } = read.data;
  return {
    excludePaths,
    upstreams: upstreams.map(({ upstream, path, authorization }) => ({
      upstream: new URL(upstream),
      path,
      attributes: authorization.resourceAttributes as ResourceAttributes,
    })),
  };
}

/** The upstream of a path: the one with the longest path of its own. */
export function upstreamFor({ upstreams }: ProxyConfig, path: string): Upstream | undefined {
  return upstreams
    .filter((each) => (each.path.endsWith("/") ? path.startsWith(each.path) : path === each.path))
    .sort((a, b) => b.path.length - a.path.length)[0];
}

/** Whether a pattern of the shell's kind is that of the whole path; no wildcard matches a slash. */
export function matchesPath(pattern: string, path: string): boolean {
  const expression = pattern
    .replaceAll(/[\\^$.|+(){}]/g, "\\$&")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]");
  try {
    return new RegExp(`^${expression}$`).test(path);
  } catch {
    return pattern === path;
  }
}
