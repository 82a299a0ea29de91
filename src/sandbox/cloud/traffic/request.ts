/** A client's request as a load balancer sees it. */

/** Values by name in lower case; a header that came several times has several. */
export type Headers = Readonly<Record<string, readonly string[]>>;

/** One request. */
export interface Request {
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** As sent, without the question mark; empty when there is none. */
  readonly query: string;
  readonly headers: Headers;
  readonly sourceIp: string;
  readonly sourcePort: number;
}

/** A request from a URL and little else, for those who care about the rest only sometimes. */
export function requestFor(url: string, given: Partial<Omit<Request, "path" | "query">> = {}): Request {
  const { host, pathname, search } = new URL(url);
  return {
    method: "GET",
    path: pathname,
    query: search.slice(1),
    sourceIp: "203.0.113.7",
    sourcePort: 50_000,
    ...given,
    headers: { host: [host], ...given.headers },
  };
}

/** The host that the request is for, without a port. */
export function hostOf({ headers }: Request): string {
  return (headers.host?.[0] ?? "").replace(/:\d+$/, "");
}

/** The value of a cookie. */
export function cookieOf({ headers }: Request, name: string): string | undefined {
  for (const pair of (headers.cookie ?? []).flatMap((line) => line.split(";"))) {
    const [key = "", ...value] = pair.trim().split("=");
    if (key === name) return value.join("=");
  }
  return undefined;
}

/** The parameters of the query, decoded; one without a value has an empty one. */
export function parametersOf({ query }: Request): readonly (readonly [string, string])[] {
  return [...new URLSearchParams(query)];
}

/** The request under another URL, as rules with transforms send it on. */
export function withUrl(request: Request, url: string): Request {
  const [path = "", ...query] = url.split("?");
  return { ...request, path, query: query.join("?") };
}

/** Path and query together, as in the first line of a request. */
export function urlOf({ path, query }: Request): string {
  return query === "" ? path : `${path}?${query}`;
}
