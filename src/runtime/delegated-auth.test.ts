import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import type { User } from "./access.ts";
import { type AccessRequest, type AuthOptions, DelegatedAuth } from "./delegated-auth.ts";
import { silentLog } from "./log.ts";
import { newRegistry } from "./metrics.ts";
import { type CertificateRequest, issueCertificate } from "./x509.ts";

const world = virtualWorld(5);
const dayMs = 24 * 3_600_000;
const lasting = { notBefore: new Date(world.clock.now() - dayMs), notAfter: new Date(world.clock.now() + dayMs) };

function authority(commonName: string) {
  return { commonName, ...issueCertificate(world.random, { commonName, usage: "authority", ...lasting }) };
}

function client(issuer: ReturnType<typeof authority>, request: Partial<CertificateRequest> & { readonly commonName: string }) {
  return new X509Certificate(issueCertificate(world.random, { usage: "client", ...lasting, ...request }, issuer).cert);
}

const clients = authority("clients");
const proxies = authority("proxies");

const trust = {
  authorities: proxies.cert,
  allowedNames: ["front-proxy-client"],
  usernameHeaders: ["X-Remote-User"],
  uidHeaders: ["X-Remote-Uid"],
  groupHeaders: ["X-Remote-Group"],
  extraHeaderPrefixes: ["X-Remote-Extra-"],
};

interface Asked {
  readonly tokens: string[];
  readonly access: string[];
}

function auth(options: Partial<AuthOptions> = {}) {
  const asked: Asked = { tokens: [], access: [] };
  const metrics = newRegistry();
  const here = new DelegatedAuth(
    { world, log: silentLog, metrics },
    {
      authentication: {
        async authenticate(token) {
          asked.tokens.push(token);
          return token === "good" ? { name: "prometheus", groups: [] } : undefined;
        },
      },
      authorization: {
        async authorize(user: User, path, verb) {
          asked.access.push(`${user.name}[${user.groups.join()}] ${verb} ${path}`);
          return user.name !== "system:anonymous" && user.name !== "stranger";
        },
      },
      clientAuthorities: () => clients.cert,
      requestHeader: () => trust,
      alwaysAllowPaths: ["/healthz", "/open/*"],
      tokenTtlMs: 10_000,
      allowedTtlMs: 10_000,
      deniedTtlMs: 10_000,
      ...options,
    },
  );
  const ask = (request: Partial<AccessRequest>) =>
    here.decide({ method: "GET", path: "/metrics", headers: {}, certificate: undefined, ...request });
  return { ask, asked, metrics };
}

test("open paths are open, exactly or by prefix, even to those with a bad token, and nobody is asked", async () => {
  const { ask, asked } = auth();
  assert.deepEqual(await ask({ path: "/healthz", headers: { authorization: "Bearer bad" } }), { kind: "allowed", user: undefined });
  assert.equal((await ask({ path: "/open/anything" })).kind, "allowed");
  assert.equal((await ask({ path: "/healthz/x" })).kind, "forbidden");
  assert.deepEqual(asked.tokens, []);
});

test("nobody is anonymous, and anonymous is asked about like anybody else", async () => {
  const { ask, asked } = auth();
  assert.deepEqual(await ask({}), { kind: "forbidden", user: { name: "system:anonymous", groups: ["system:unauthenticated"] } });
  assert.deepEqual(asked.access, ["system:anonymous[system:unauthenticated] get /metrics"]);
});

test("a good token is its user, a bad one is refused outright", async () => {
  const { ask, asked } = auth();
  const decision = await ask({ headers: { authorization: "Bearer good" }, method: "PUT" });
  assert.equal(decision.kind, "allowed");
  assert.deepEqual(asked.access, ["prometheus[system:authenticated] put /metrics"]);
  assert.deepEqual(await ask({ headers: { authorization: "Bearer bad" } }), { kind: "unauthorized" });
});

test("answers are remembered for their time, joined when asked at once, and failures are not remembered", async () => {
  const { ask, asked } = auth();
  const request = { headers: { authorization: "Bearer good" } };
  await Promise.all([ask(request), ask(request), ask(request)]);
  await ask(request);
  assert.equal(asked.tokens.length, 1);
  assert.equal(asked.access.length, 1);
  await world.advance(10_001);
  await ask(request);
  assert.equal(asked.tokens.length, 2);

  let failures = 0;
  const failing = auth({
    authentication: {
      async authenticate() {
        failures++;
        throw new Error("connection refused");
      },
    },
  });
  assert.deepEqual(await failing.ask(request), { kind: "unavailable" });
  assert.deepEqual(await failing.ask(request), { kind: "unavailable" });
  assert.equal(failures, 2);
});

test("a client certificate names its user and groups; masters pass without a question", async () => {
  const { ask, asked } = auth();
  const certificate = client(clients, { commonName: "alice", organizations: ["dev", "ops"] });
  const decision = await ask({ certificate });
  assert.deepEqual(decision, { kind: "allowed", user: { name: "alice", groups: ["dev", "ops", "system:authenticated"] } });
  const master = await ask({ certificate: client(clients, { commonName: "root", organizations: ["system:masters"] }) });
  assert.equal(master.kind, "allowed");
  assert.equal(asked.access.length, 1);
});

test("certificates that are out of date, for servers only, or from an unknown authority are refused", async () => {
  const { ask } = auth();
  const early = new Date(world.clock.now() - 2 * dayMs);
  for (const certificate of [
    client(clients, { commonName: "alice", notBefore: early, notAfter: new Date(world.clock.now() - dayMs) }),
    client(clients, { commonName: "alice", usage: "server" }),
    client(authority("clients"), { commonName: "alice", organizations: ["system:masters"] }),
    client(proxies, { commonName: "alice" }),
  ]) {
    assert.deepEqual(await ask({ certificate }), { kind: "unauthorized" });
  }
});

test("an unknown certificate does not stand in the way of a good token", async () => {
  const { ask } = auth();
  const certificate = client(authority("others"), { commonName: "x" });
  assert.equal((await ask({ certificate, headers: { authorization: "Bearer good" } })).kind, "allowed");
});

test("a trusted proxy names the user in headers; anybody else's headers mean nothing", async () => {
  const { ask, asked } = auth();
  const headers = {
    "x-remote-user": "bob",
    "x-remote-group": ["g1", "g2"],
    "x-remote-uid": "7",
    "x-remote-extra-scopes%2fa": "read",
    "x-remote-extra-__proto__": "own",
  };
  const decision = await ask({ headers, certificate: client(proxies, { commonName: "front-proxy-client" }) });
  assert.deepEqual(decision, {
    kind: "allowed",
    user: { name: "bob", groups: ["g1", "g2", "system:authenticated"], uid: "7", extra: { "scopes/a": ["read"], ["__proto__"]: ["own"] } },
  });
  assert.equal((await ask({ headers })).kind, "forbidden");
  assert.equal((await ask({ headers, certificate: client(proxies, { commonName: "other" }) })).kind, "unauthorized");
  assert.equal((await ask({ headers, certificate: client(clients, { commonName: "stranger" }) })).kind, "forbidden");
  assert.deepEqual(
    asked.access.filter((line) => line.startsWith("bob")),
    ["bob[g1,g2,system:authenticated] get /metrics"],
  );
});

test("a trusted proxy that names nobody has authenticated nobody", async () => {
  const { ask } = auth();
  const certificate = client(proxies, { commonName: "front-proxy-client" });
  // As the server hands them over: each header with all its values.
  const headers = { "x-remote-user": [""], "x-remote-group": ["system:masters"] };
  assert.equal((await ask({ headers, certificate })).kind, "unauthorized");
  const named = await ask({ headers: { "x-remote-user": ["bob"], "x-remote-group": ["", "g1"], "x-remote-uid": [""] }, certificate });
  assert.deepEqual("user" in named && named.user, { name: "bob", groups: ["g1", "system:authenticated"], extra: {} });
});

test("without a client to ask, tokens are not looked at and everything but the open paths is forbidden", async () => {
  const { ask } = auth({ authentication: undefined, authorization: undefined } as Partial<AuthOptions>);
  const decision = await ask({ headers: { authorization: "Bearer good" } });
  assert.equal(decision.kind, "forbidden");
  assert.equal((await ask({ path: "/healthz" })).kind, "allowed");
});

test("attempts are counted by result", async () => {
  const { ask, metrics } = auth();
  await ask({ headers: { authorization: "Bearer good" } });
  await ask({ headers: { authorization: "Bearer bad" } });
  await ask({});
  const text = await metrics.metrics();
  assert.match(text, /authentication_attempts\{result="success"\} 2\n/);
  assert.match(text, /authentication_attempts\{result="failure"\} 1\n/);
  assert.match(text, /authorization_attempts_total\{result="denied"\} 1\n/);
});
