import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type RequestOptions, request } from "node:https";
import { connect as connectTcp, createServer } from "node:net";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { connect, type PeerCertificate } from "node:tls";
import { loadCertificates } from "./certificates.ts";
import { type AuthOptions, DelegatedAuth } from "./delegated-auth.ts";
import { HealthChecks } from "./health.ts";
import { silentLog } from "./log.ts";
import { counter, newRegistry } from "./metrics.ts";
import { profilingRoutes } from "./profiling.ts";
import { json, RouteTable } from "./routes.ts";
import { CannotListen, type ServingOptions, serve } from "./serving.ts";
import { configRoute, healthRoutes, metricsRoutes, verbosityRoute } from "./standard-routes.ts";
import { InvalidTlsOption, nodeTlsOptions } from "./tls-options.ts";
import { type Files, realWorld } from "./world.ts";
import { issueCertificate } from "./x509.ts";

const { clock, random } = realWorld();
const lasting = { notBefore: new Date(clock.now() - 3_600_000), notAfter: new Date(clock.now() + 3_600_000) };

function memory(): Files & { readonly contents: Map<string, string> } {
  const contents = new Map<string, string>();
  return {
    contents,
    async read(path) {
      const text = contents.get(path);
      if (text === undefined) throw new Error(`no such file: ${path}`);
      return Buffer.from(text);
    },
    list: async () => [...contents.keys()],
    async write(path, content) {
      contents.set(path, Buffer.from(content).toString());
    },
  };
}

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers: NodeJS.Dict<string | string[]>;
}

async function started(t: TestContext, options: Partial<ServingOptions> = {}, auth: Partial<AuthOptions> = {}) {
  const files = memory();
  const host = { world: { ...realWorld(), files }, log: silentLog, metrics: newRegistry() };
  const health = new HealthChecks(host);
  const routes = new RouteTable();
  const levels: number[] = [];
  routes.add(
    ...healthRoutes(health),
    ...metricsRoutes(host.metrics, health.slis),
    configRoute(() => ({ "cloudcontrollermanager.config.k8s.io": { kind: "CloudControllerManagerConfiguration" } })),
    verbosityRoute({ setVerbosity: (level) => levels.push(level) }),
    ...profilingRoutes({ clock, heapDumps: false, routes }),
  );
  const access = new DelegatedAuth(host, {
    authentication: { authenticate: async (token) => (token === "good" ? { name: "prometheus", groups: [] } : undefined) },
    authorization: { authorize: async (user) => user.name === "prometheus" || user.name === "alice" },
    alwaysAllowPaths: ["/healthz", "/readyz", "/livez"],
    tokenTtlMs: 0,
    allowedTtlMs: 0,
    deniedTtlMs: 0,
    ...auth,
  });
  const certificates = options.certificates ?? (await loadCertificates(host, {}));
  const serving = await serve(host, {
    bindAddress: "127.0.0.1",
    port: 0,
    certificates,
    tls: nodeTlsOptions({}),
    routes,
    decide: (asked) => access.decide(asked),
    ...options,
  });
  t.after(() => serving.stop(AbortSignal.abort()));
  const ask = (path: string, with_: RequestOptions & { readonly body?: string } = {}): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        { host: "127.0.0.1", port: serving.port, path, rejectUnauthorized: false, agent: false, ...with_ },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on("data", (chunk: Buffer) => chunks.push(chunk));
          answer.on("end", () =>
            resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString(), headers: answer.headers }),
          );
        },
      );
      outgoing.on("error", reject);
      outgoing.end(with_.body);
    });
  const asPrometheus = (path: string, with_: RequestOptions & { readonly body?: string } = {}) =>
    ask(path, { headers: { authorization: "Bearer good" }, ...with_ });
  return { host, health, routes, levels, serving, ask, asPrometheus, certificates, files };
}

test("health is open to all and says what is wrong only to the log", async (t) => {
  const { ask, health } = await started(t);
  assert.deepEqual([(await ask("/healthz")).status, (await ask("/healthz")).body], [200, "ok"]);
  assert.equal((await ask("/livez")).body, "ok");
  assert.equal((await ask("/readyz?verbose")).body, "[+]ping ok\nreadyz check passed\n");
  health.add({ name: "leaderElection", problem: () => "lost" });
  const failing = await ask("/healthz");
  assert.equal(failing.status, 500);
  assert.equal(failing.body, "[-]leaderElection failed: reason withheld\nhealthz check failed\n");
  assert.equal((await ask("/healthz?exclude=leaderElection")).status, 200);
  assert.equal((await ask("/healthz/leaderElection")).status, 403);
});

test("everything else is for those who are let in: 401 for a bad token, 403 in the reference's words, 404 after that", async (t) => {
  const { ask, asPrometheus, host } = await started(t);
  counter(host.metrics, { name: "fairlead_things_total", help: "Things." }).inc();
  const anonymous = await ask("/metrics");
  assert.equal(anonymous.status, 403);
  assert.equal(JSON.parse(anonymous.body).message, 'forbidden: User "system:anonymous" cannot get path "/metrics"');
  const bad = await ask("/metrics", { headers: { authorization: "Bearer bad" } });
  assert.equal(bad.status, 401);
  assert.equal(JSON.parse(bad.body).reason, "Unauthorized");
  const metrics = await asPrometheus("/metrics");
  assert.equal(metrics.status, 200);
  assert.match(metrics.body, /fairlead_things_total 1\n/);
  assert.match(String(metrics.headers["content-type"]), /^text\/plain; version=0\.0\.4/);
  assert.equal((await asPrometheus("/nothing")).status, 404);
  assert.equal((await asPrometheus("/healthz/../metrics")).status, 200, "the path that is judged is the path that is served");
  assert.equal((await ask("/healthz/../metrics")).status, 403);
  assert.equal((await ask("/healthz/%2e%2e/metrics")).status, 403);
});

test("a client certificate of a trusted authority lets its user in", async (t) => {
  const authority = { commonName: "clients", ...issueCertificate(random, { commonName: "clients", usage: "authority", ...lasting }) };
  const { ask } = await started(t, {}, { clientAuthorities: () => authority.cert });
  const alice = issueCertificate(random, { commonName: "alice", usage: "client", ...lasting }, authority);
  assert.equal((await ask("/metrics", { cert: alice.cert, key: alice.key })).status, 200);
  const forged = issueCertificate(random, { commonName: "alice", usage: "client", ...lasting });
  assert.equal((await ask("/metrics", { cert: forged.cert, key: forged.key })).status, 401);
});

test("the indicators, the configuration and the verbosity are served", async (t) => {
  const { ask, asPrometheus, levels } = await started(t);
  await ask("/healthz");
  assert.match((await asPrometheus("/metrics/slis")).body, /kubernetes_healthcheck\{name="ping",type="healthz"\} 1\n/);
  assert.equal(
    JSON.parse((await asPrometheus("/configz")).body)["cloudcontrollermanager.config.k8s.io"].kind,
    "CloudControllerManagerConfiguration",
  );
  const put = await asPrometheus("/debug/flags/v", { method: "PUT", body: "4" });
  assert.equal(put.body, "successfully set klog.logging.verbosity to 4");
  assert.equal((await asPrometheus("/debug/flags/v", { method: "PUT", body: "loud" })).status, 400);
  assert.deepEqual(levels, [4]);
  const get = await asPrometheus("/debug/flags/v");
  assert.deepEqual([get.status, get.headers.allow], [405, "PUT"]);
});

test("a part of the process can add a path while it is served", async (t) => {
  const { asPrometheus, routes } = await started(t);
  assert.equal((await asPrometheus("/debug/fairlead/calls")).status, 404);
  routes.add({ path: "/debug/fairlead/calls", answer: ({ user }) => json(200, { asked: user?.name }) });
  assert.deepEqual(JSON.parse((await asPrometheus("/debug/fairlead/calls")).body), { asked: "prometheus" });
  assert.match((await asPrometheus("/debug/pprof/")).body, /\/debug\/fairlead\/calls\n/);
  assert.throws(() => routes.add({ path: "/metrics", answer: () => json(200, {}) }), /served already/);
});

test("a CPU profile is taken for the time asked for, one at a time; a heap dump needs its own switch", async (t) => {
  const { asPrometheus } = await started(t);
  const [first, second] = await Promise.all([
    asPrometheus("/debug/pprof/profile?seconds=0.3"),
    asPrometheus("/debug/pprof/profile?seconds=0.3"),
  ]);
  assert.deepEqual([first.status, second.status].sort(), [200, 409]);
  const profile = JSON.parse(first.status === 200 ? first.body : second.body);
  assert.ok(profile.nodes.length > 0 && profile.endTime > profile.startTime);
  assert.equal((await asPrometheus("/debug/pprof/profile?seconds=0")).status, 400);
  assert.equal((await asPrometheus("/debug/pprof/heap")).status, 403);
});

test("an answer that comes in pieces, as a heap dump does, is served whole", async (t) => {
  const { asPrometheus, routes } = await started(t);
  const pieces = Array.from({ length: 100 }, (_, i) => `${i} `.repeat(1000));
  routes.add({ path: "/pieces", answer: () => ({ status: 200, headers: {}, body: Readable.from(pieces) }) });
  const { status, body } = await asPrometheus("/pieces");
  assert.equal(status, 200);
  assert.ok(body === pieces.join(""));
});

test("a route that fails is an answer, not a crash, and says nothing of the inside", async (t) => {
  const { asPrometheus, routes } = await started(t);
  routes.add({
    path: "/broken",
    answer() {
      throw new Error("PLANTED detail");
    },
  });
  const broken = await asPrometheus("/broken");
  assert.equal(broken.status, 500);
  assert.ok(!broken.body.includes("PLANTED"));
  assert.equal((await asPrometheus("/metrics")).status, 200);
});

/** Connections that say nothing. */
async function idle(t: TestContext, port: number, count: number, localAddress = "127.0.0.1"): Promise<void> {
  const sockets = Array.from({ length: count }, () => connectTcp({ port, host: "127.0.0.1", localAddress }));
  for (const socket of sockets) socket.on("error", () => {});
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
}

test("a probe is answered, however many idle connections others hold", async (t) => {
  const { ask, serving } = await started(t);
  for (const peer of ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]) await idle(t, serving.port, 130, peer);
  assert.equal((await ask("/healthz")).status, 200);
});

test("a connection that says nothing does not keep the server from stopping", async (t) => {
  const { serving } = await started(t);
  await idle(t, serving.port, 1);
  const began = clock.monotonic();
  await serving.stop(new AbortController().signal);
  assert.ok(clock.monotonic() - began < 2_000, "long before the time limit of a handshake");
});

test("who has just come when the server is asked to stop is answered", async (t) => {
  const { serving, ask } = await started(t);
  const half = connect({ port: serving.port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(half, "secureConnect");
  half.write("GET /healthz HTTP/1.1\r\n");
  const late = connectTcp({ port: serving.port, host: "127.0.0.1" });
  await once(late, "connect");
  // Both were accepted before this one.
  assert.equal((await ask("/healthz")).status, 200);
  const stopped = serving.stop(new AbortController().signal);
  half.write("host: localhost\r\n\r\n");
  const handshake = connect({ socket: late, rejectUnauthorized: false });
  handshake.on("secureConnect", () => handshake.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"));
  for (const line of [half, handshake]) assert.match(String((await once(line, "data"))[0]), /^HTTP\/1.1 200/);
  await stopped;
});

test("those who have not said who they are keep no connection after their answer", async (t) => {
  const { ask, asPrometheus } = await started(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  assert.equal((await ask("/healthz", { agent })).headers.connection, "close");
  assert.equal((await ask("/metrics", { agent })).headers.connection, "close");
  assert.equal((await asPrometheus("/metrics", { agent })).headers.connection, "keep-alive");
});

test("bodies and headers beyond the limits are refused", async (t) => {
  const { asPrometheus, ask } = await started(t);
  assert.equal((await asPrometheus("/debug/flags/v", { method: "PUT", body: "4".repeat(70_000) })).status, 413);
  await assert.rejects(ask("/healthz", { headers: { "x-long": "x".repeat(40_000) } }));
  assert.equal((await ask("/healthz")).status, 200);
});

test("a HEAD is a GET without its body", async (t) => {
  const { ask } = await started(t);
  const head = await ask("/healthz", { method: "HEAD" });
  assert.deepEqual([head.status, head.body], [200, ""]);
});

test("a busy port is one clear message", async (t) => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  t.after(() => taken.close());
  const { port } = taken.address() as { port: number };
  await assert.rejects(started(t, { port }), (error: Error) => {
    assert.ok(error instanceof CannotListen);
    assert.equal(
      error.message,
      `failed to create listener: failed to listen on 127.0.0.1:${port}: address already in use; stop what listens there or choose another --secure-port`,
    );
    return true;
  });
});

test("two processes can share a port when both permit it", async (t) => {
  const first = await started(t, { reusePort: true });
  const second = await started(t, { reusePort: true, port: first.serving.port });
  assert.equal(second.serving.port, first.serving.port);
});

test("an unspecified address takes both families", async (t) => {
  const { ask } = await started(t, { bindAddress: "0.0.0.0" });
  assert.equal((await ask("/healthz")).status, 200);
  const overSix = await ask("/healthz", { host: "::1" }).catch((error: NodeJS.ErrnoException) => error.code);
  assert.ok(
    typeof overSix === "object" ? overSix.status === 200 : overSix === "EADDRNOTAVAIL" || overSix === "EAFNOSUPPORT",
    String(overSix),
  );
});

function presented(port: number, servername?: string, options = {}): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ...(servername && { servername }), ...options }, () => {
      resolve(socket.getPeerCertificate());
      socket.end();
    });
    socket.on("error", reject);
  });
}

test("a host name gets its own certificate, and a replaced file is served to the next connection", async (t) => {
  const files = memory();
  const put = (name: string, commonName: string) => {
    const pair = issueCertificate(random, { commonName, hosts: [`${name}.example`], usage: "server", ...lasting });
    files.contents.set(`/${name}.crt`, pair.cert);
    files.contents.set(`/${name}.key`, pair.key);
  };
  put("main", "first");
  put("named", "named");
  const certificates = await loadCertificates(
    { world: { ...realWorld(), files }, log: silentLog, metrics: newRegistry() },
    { files: { certFile: "/main.crt", keyFile: "/main.key" }, named: [{ certFile: "/named.crt", keyFile: "/named.key" }], pollMs: 10 },
  );
  const { serving } = await started(t, { certificates });
  const commonName = async (host?: string) => (await presented(serving.port, host)).subject.CN;
  assert.equal(await commonName(), "first");
  assert.equal(await commonName("named.example"), "named");
  assert.equal(await commonName("other.example"), "first");
  put("main", "second");
  const deadline = clock.monotonic() + 5_000;
  while ((await commonName()) !== "second" || (await commonName("other.example")) !== "second") {
    assert.ok(clock.monotonic() < deadline, "the new certificate is served within 5 s");
  }
});

test("TLS versions, suites and groups follow Go's names", async (t) => {
  const { serving } = await started(t, { tls: nodeTlsOptions({ minVersion: "VersionTLS13", curves: [29] }) });
  await assert.rejects(presented(serving.port, undefined, { maxVersion: "TLSv1.2" }));
  await presented(serving.port, undefined, { ecdhCurve: "X25519" });
  await assert.rejects(presented(serving.port, undefined, { ecdhCurve: "secp521r1" }));

  assert.throws(() => nodeTlsOptions({ minVersion: "VersionTLS14" }), { message: 'unknown tls version "VersionTLS14"' });
  assert.throws(() => nodeTlsOptions({ cipherSuites: ["NOPE"] }), { message: "Cipher suite NOPE not supported or doesn't exist" });
  assert.throws(() => nodeTlsOptions({ curves: [1] }), InvalidTlsOption);

  const narrow = await started(t, { tls: nodeTlsOptions({ cipherSuites: ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"] }) });
  await presented(narrow.serving.port, undefined, { minVersion: "TLSv1.3" });
  await presented(narrow.serving.port, undefined, { maxVersion: "TLSv1.2" });
  await assert.rejects(presented(narrow.serving.port, undefined, { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384" }));
});

test("stopping lets a request under way finish and then takes no other", async (t) => {
  const { asPrometheus, routes, serving } = await started(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  routes.add({
    path: "/slow",
    async answer() {
      reached.resolve();
      await promise;
      return json(200, "done");
    },
  });
  const answer = asPrometheus("/slow");
  await reached.promise;
  const stopped = serving.stop(new AbortController().signal);
  resolve();
  assert.equal((await answer).body, '"done"\n');
  await stopped;
  await assert.rejects(asPrometheus("/metrics"), /ECONNREFUSED/);
});
