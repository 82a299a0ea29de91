/** Requests to the load balancer of `testing.ts`, and what must become of them: held by `route` and by sockets alike. */
import assert from "node:assert/strict";

/** A request, and what must become of it. */
export interface Case {
  readonly name: string;
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly expect: Outcome;
}

/** What a client, or the pod behind, sees. */
export interface Outcome {
  readonly status: number;
  readonly body?: string;
  readonly location?: string | RegExp;
  readonly type?: string;
  readonly pod?: string;
  /** Path and query as the pod got them. */
  readonly podUrl?: string;
  /** Headers as the pod got them. */
  readonly podHeaders?: Readonly<Record<string, string>>;
}

const answered = (body: string, status = 200): Outcome => ({ status, body });
const found: Outcome = { status: 404, body: "" };
const byPod = (pod: string, more: Partial<Outcome> = {}): Outcome => ({ status: 200, pod, ...more });

/** A token with these claims; nobody checks its signature. */
export function token(claims: object): string {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
  return `Bearer ${part({ alg: "RS256" })}.${part(claims)}.c2lnbmF0dXJl`;
}
const LATER = Date.UTC(2030, 0, 1) / 1000;
const ISSUER = "https://id.example.org";

/** All of them. The default rule answers 404. */
export const CASES: readonly Case[] = [
  { name: "a host", url: "http://api.example.com/", expect: byPod("api-1", { podUrl: "/" }) },
  {
    name: "a host in capitals, with a port",
    url: "http://api.example.com/",
    headers: { host: "API.Example.COM:80" },
    expect: byPod("api-1"),
  },
  { name: "a host that no rule names", url: "http://other.example.com/", expect: found },
  { name: "a host by wildcard", url: "http://a.b.wild.example.com/", expect: answered("wild") },
  { name: "a wildcard does not stand for nothing between dots", url: "http://wild.example.com/", expect: found },
  { name: "a host by a single wildcard character", url: "http://old7.example.com/", expect: answered("wild") },
  { name: "a host by regular expression", url: "http://V12.regex.example.com/", expect: answered("regex host") },
  { name: "a host that the expression does not fit", url: "http://vx.regex.example.com/", expect: found },
  { name: "an exact path", url: "http://shop.example.com/cart", expect: answered("cart") },
  { name: "a path below", url: "http://shop.example.com/cart/7?x=1", expect: answered("cart") },
  { name: "a path that only begins alike", url: "http://shop.example.com/cartoon", expect: byPod("api-1", { podUrl: "/cartoon" }) },
  { name: "paths are compared with regard to case", url: "http://shop.example.com/Cart", expect: byPod("api-1") },
  { name: "a path by its ending", url: "http://shop.example.com/a/b.png", expect: answered("picture") },
  { name: "a path by one character", url: "http://shop.example.com/item/7", expect: answered("one character") },
  { name: "a path of two characters where one fits", url: "http://shop.example.com/item/77", expect: byPod("api-1") },
  { name: "a path by regular expression", url: "http://shop.example.com/v2/users", expect: answered("regex path") },
  { name: "the query is no part of the path", url: "http://shop.example.com/?p=/cart", expect: byPod("api-1", { podUrl: "/?p=/cart" }) },
  { name: "a header", url: "http://any.example.com/", headers: { "x-team": "Blue-Green" }, expect: byPod("blue-1") },
  { name: "a header with another value", url: "http://any.example.com/", headers: { "x-team": "red" }, expect: found },
  {
    name: "a header by regular expression",
    url: "http://any.example.com/",
    headers: { "user-agent": "curl/8.1" },
    expect: answered("regex header"),
  },
  { name: "a method", url: "http://write.example.com/", method: "PUT", expect: answered("written", 201) },
  { name: "another method", url: "http://write.example.com/", method: "DELETE", expect: found },
  { name: "a query parameter", url: "http://any.example.com/?a=1&Version=V1", expect: answered("query") },
  { name: "a query value under any key", url: "http://any.example.com/?q=an%20example%20of", expect: answered("query") },
  { name: "a query parameter with another value", url: "http://any.example.com/?version=v2", expect: found },
  { name: "a source address", url: "http://office.example.com/", from: "127.0.0.9", expect: answered("office") },
  { name: "another source address", url: "http://office.example.com/", from: "127.0.0.8", expect: found },
  {
    name: "a source address claimed in a header counts for nothing",
    url: "http://office.example.com/",
    headers: { "x-forwarded-for": "10.1.1.1" },
    expect: found,
  },
  {
    name: "a redirect to HTTPS keeps host, path and query",
    url: "http://secure.example.com/a/b?c=d",
    expect: { status: 301, location: "https://secure.example.com:443/a/b?c=d" },
  },
  {
    name: "a redirect without a query has no question mark",
    url: "http://secure.example.com/",
    expect: { status: 301, location: "https://secure.example.com:443/" },
  },
  {
    name: "a redirect that uses every part",
    url: "http://moved.example.com/a?x=1",
    expect: { status: 302, location: "http://new.moved.example.com:80/archive/a?from=80&x=1" },
  },
  {
    name: "a fixed response with its type",
    url: "http://gone.example.com/",
    expect: { status: 503, body: '{"down":true}', type: "application/json; charset=utf-8" },
  },
  {
    name: "a rewritten path and host",
    url: "http://rewrite.example.com/api/users?x=1",
    expect: byPod("api-1", { podUrl: "/users?x=1", podHeaders: { host: "rewrite.internal" } }),
  },
  {
    name: "a path that the rewrite does not fit goes on as it is",
    url: "http://rewrite.example.com/users",
    expect: byPod("api-1", { podUrl: "/users" }),
  },
  {
    name: "a path rewritten into a query",
    url: "http://product.example.com/dp/B09G3HRMW",
    expect: byPod("api-1", { podUrl: "/product.php?id=B09G3HRMW" }),
  },
  { name: "a rewrite that makes nonsense of the URL", url: "http://broken.example.com/a", expect: { status: 500 } },
  { name: "a group without targets", url: "http://empty.example.com/", expect: { status: 503 } },
  {
    name: "a group whose targets are all unhealthy is tried all the same",
    url: "http://sick.example.com/",
    expect: { status: 500, body: "sick" },
  },
  {
    name: "what targets are told of the client",
    url: "http://api.example.com/",
    headers: { "x-forwarded-for": "198.51.100.1" },
    from: "127.0.0.9",
    expect: byPod("api-1", {
      podHeaders: { "x-forwarded-for": "198.51.100.1, 127.0.0.9", "x-forwarded-proto": "http", "x-forwarded-port": "80" },
    }),
  },
  {
    name: "a user who is not signed in is sent to the provider",
    url: "https://login.example.com/private?a=1",
    expect: {
      status: 302,
      location:
        /^https:\/\/id\.example\.org\/authorize\?client_id=shop&redirect_uri=https%3A%2F%2Flogin\.example\.com%2Foauth2%2Fidpresponse&response_type=code&scope=openid&state=[\w-]+&prompt=login$/,
    },
  },
  {
    name: "a user pool's own page",
    url: "https://pool.example.com/",
    expect: { status: 302, location: /^https:\/\/shop\.auth\.us-east-1\.amazoncognito\.com\/oauth2\/authorize\?client_id=pool-client&/ },
  },
  { name: "who is not signed in is refused", url: "https://closed.example.com/", expect: { status: 401 } },
  { name: "who is not signed in is let through", url: "https://open.example.com/", expect: byPod("api-1") },
  {
    name: "who comes back from the provider with nothing is refused",
    url: "https://login.example.com/oauth2/idpresponse?state=x",
    expect: { status: 401 },
  },
  {
    name: "a token with the claims",
    url: "https://token.example.com/",
    headers: { authorization: token({ iss: ISSUER, exp: LATER, scope: "write read" }) },
    expect: byPod("api-1"),
  },
  { name: "no token", url: "https://token.example.com/", expect: { status: 401 } },
  {
    name: "a token that is over",
    url: "https://token.example.com/",
    headers: { authorization: token({ iss: ISSUER, exp: 1, scope: "read" }) },
    expect: { status: 401 },
  },
  {
    name: "a token of another issuer",
    url: "https://token.example.com/",
    headers: { authorization: token({ iss: "https://other", exp: LATER, scope: "read" }) },
    expect: { status: 401 },
  },
  {
    name: "a token without the claim",
    url: "https://token.example.com/",
    headers: { authorization: token({ iss: ISSUER, exp: LATER, scope: "write" }) },
    expect: { status: 401 },
  },
  { name: "the default rule of the other listener", url: "https://other.example.com/", expect: found },
];

/** Asserts that what was seen is what had to be. */
export function check({ expect }: Case, seen: Outcome): void {
  for (const [key, wanted] of Object.entries(expect)) {
    const value = seen[key as keyof Outcome];
    if (wanted instanceof RegExp) assert.match(String(value), wanted);
    else if (key === "podHeaders") for (const [name, text] of Object.entries(wanted)) assert.equal(seen.podHeaders?.[name], text, name);
    else assert.equal(value, wanted, key);
  }
}
