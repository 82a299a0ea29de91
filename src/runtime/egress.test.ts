import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { test } from "node:test";
import { egressOf } from "./egress.ts";
import { bodyText, type HttpRequest, socketTransport } from "./http.ts";
import { type Behind, type BehindOptions, behindProxy } from "./testing/connect-proxy.ts";
import { realWorld } from "./world.ts";

const host = "service.example";

/** A server behind a proxy, and how a process in this environment asks it. */
async function bed(t: TestContext, environment: (behind: Behind) => Record<string, string>, options: Partial<BehindOptions> = {}) {
  const answered: string[] = [];
  const behind = await behindProxy(t, {
    hosts: [host],
    answer: (request, response) => {
      answered.push(`${request.method} ${request.url}`);
      response.end("served");
    },
    ...options,
  });
  const machine = realWorld();
  const bundles = new Map([
    ["/ca.pem", behind.ca],
    ["/after-a-bad-one.pem", `-----BEGIN CERTIFICATE-----\nMIIBAAAA\n-----END CERTIFICATE-----\n${behind.ca}`],
  ]);
  const read = async (path: string) => Buffer.from(bundles.get(path) ?? (await machine.files.read(path)));
  const world = { ...machine, environment: environment(behind), files: { ...machine.files, read } };
  const { send, close } = socketTransport({ connectTimeoutMs: 2_000, egress: egressOf(world) });
  t.after(close);
  const ask = async (url = `https://${host}/path`, more: Partial<HttpRequest> = {}) =>
    bodyText(await send({ method: "GET", url: new URL(url), headers: {}, ...more }));
  return { ...behind, answered, ask };
}

test("a secure request passes the proxy through a tunnel, and the server is who it says it is", async (t) => {
  const { ask, seen, answered } = await bed(t, ({ proxy }) => ({ HTTPS_PROXY: proxy, SSL_CERT_FILE: "/ca.pem" }));
  assert.equal(await ask(), "served");
  assert.equal(await ask(`https://${host}:443/other`), "served");
  assert.deepEqual([seen[0], ...answered], [`CONNECT ${host}:443`, "GET /path", "GET /other"]);
  await assert.rejects(ask("https://impostor.example/"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" });
});

test("a server whose authority nobody named is not trusted", async (t) => {
  const { ask, answered } = await bed(t, ({ proxy }) => ({ HTTPS_PROXY: proxy }));
  await assert.rejects(ask(), { code: /SELF_SIGNED|UNABLE_TO/ });
  assert.deepEqual(answered, []);
});

test("a plain request is handed to the proxy whole, with the credentials in its URL for the proxy alone", async (t) => {
  const { ask, seen, answered } = await bed(t, ({ proxy }) => ({ http_proxy: proxy.replace("//", "//user:pass%40word@") }));
  assert.equal(await ask(`http://${host}/path`), "served");
  assert.deepEqual(seen, [`GET http://${host}/path Basic ${Buffer.from("user:pass@word").toString("base64")}`]);
  assert.deepEqual(answered, [`GET http://${host}/path`]);
});

test("credentials for the proxy are sent as the bytes that its URL holds", async (t) => {
  const { ask, seen } = await bed(t, ({ proxy }) => ({ http_proxy: proxy.replace("//", "//user:caf%E9@") }));
  assert.equal(await ask(`http://${host}/`), "served");
  assert.deepEqual(seen, [`GET http://${host}/ Basic ${Buffer.from("user:caf\xe9", "latin1").toString("base64")}`]);
});

test("a certificate that cannot be read does not keep those after it from being trusted", async (t) => {
  const { ask } = await bed(t, ({ proxy }) => ({ HTTPS_PROXY: proxy, SSL_CERT_FILE: "/after-a-bad-one.pem", SSL_CERT_DIR: "/none" }));
  assert.equal(await ask(), "served");
});

test("the proxy may be a secure server of the same authority", async (t) => {
  const { ask, seen } = await bed(t, ({ proxy }) => ({ HTTPS_PROXY: proxy, SSL_CERT_FILE: "/ca.pem" }), { secureProxy: true });
  assert.equal(await ask(), "served");
  assert.deepEqual(seen, [`CONNECT ${host}:443`]);
});

test("what NO_PROXY names, and what is asked straight, does not pass the proxy", async (t) => {
  const { ask, seen } = await bed(t, ({ proxy }) => ({ HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NO_PROXY: ".invalid" }));
  await assert.rejects(ask("https://name.invalid/"), { code: /ENOTFOUND|EAI_AGAIN/ });
  await assert.rejects(ask("http://name.test/", { direct: true }), { code: /ENOTFOUND|EAI_AGAIN/ });
  assert.deepEqual(seen, []);
});

test("a proxy that refuses is named, without its password, and one that says nothing does not outlast the signal", async (t) => {
  const refusing = await bed(t, ({ proxy }) => ({ HTTPS_PROXY: proxy.replace("//", "//user:topsecret@") }), { refuse: 407 });
  const error = (await refusing.ask().catch((thrown: unknown) => thrown)) as Error & { code: string };
  assert.equal(error.code, "PROXY_REFUSED");
  assert.match(error.message, /the proxy at 127\.0\.0\.1:\d+ answered 407 for service\.example/);
  assert.doesNotMatch(String(error.stack) + JSON.stringify(error), /topsecret/);
  const silent = await bed(t, ({ proxy }) => ({ HTTPS_PROXY: proxy }), { refuse: "nothing" });
  const given = new AbortController();
  const asked = silent.ask(undefined, { signal: given.signal });
  while (silent.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  given.abort(new Error("waited enough"));
  await assert.rejects(asked, /waited enough/);
});

test("a write that may not be sent any more does not get past the proxy", async (t) => {
  const { ask, answered } = await bed(t, ({ proxy }) => ({ HTTPS_PROXY: proxy, SSL_CERT_FILE: "/ca.pem" }));
  const beforeSend = () => {
    throw new Error("the lease is lost");
  };
  await assert.rejects(ask(undefined, { method: "POST", body: "x", beforeSend }), /the lease is lost/);
  assert.deepEqual(answered, []);
});
