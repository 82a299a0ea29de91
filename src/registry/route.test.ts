import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { proxyFor, type Route, routedTransport } from "./route.ts";

test("proxies are chosen as Go programs choose them", () => {
  const proxy = (url: string, environment: Record<string, string>) => proxyFor(new URL(url), environment);
  const both = { HTTPS_PROXY: "http://secure:3128", http_proxy: "plain:3128" };
  assert.equal(proxy("https://api.ecr.us-west-2.amazonaws.com", both), "http://secure:3128");
  assert.equal(proxy("http://example.com", both), "http://plain:3128");
  assert.equal(proxy("https://example.com", {}), undefined);
  for (const url of ["http://localhost:1", "http://127.0.0.1:1", "http://127.9.9.9", "http://[::1]:1"])
    assert.equal(proxy(url, both), undefined);
  for (const [exception, url, proxied] of [
    ["*", "https://a.com", false],
    ["amazonaws.com", "https://api.ecr.us-west-2.amazonaws.com", false],
    [".amazonaws.com", "https://api.ecr.us-west-2.amazonaws.com", false],
    ["*.amazonaws.com", "https://api.ecr.us-west-2.amazonaws.com", false],
    ["other.com, amazonaws.com", "https://sts.amazonaws.com", false],
    ["amazonaws.com:8443", "https://sts.amazonaws.com", true],
    ["amazonaws.com:443", "https://sts.amazonaws.com", false],
    ["aws.com", "https://sts.amazonaws.com", true],
    ["169.254.0.0/16", "https://169.254.1.1", false],
    ["10.0.0.0/8", "https://11.0.0.1", true],
    ["10.0.0.0/8", "https://10.example.com", true],
    ["[fd00::1]", "https://[fd00::1]", false],
  ] as const) {
    assert.equal(proxy(url, { HTTPS_PROXY: "http://p", NO_PROXY: exception }) !== undefined, proxied, `${exception} ${url}`);
  }
});

test("the machine's certificates and the given bundle are trusted, and read only for a secure request", async () => {
  const certificate = "-----BEGIN CERTIFICATE-----\nextra\n";
  const routeTo = async (url: string, environment: Record<string, string>, files: Record<string, string>) => {
    let seen: Route | undefined;
    const send = routedTransport(
      async (_, route) => {
        seen = route;
        return { status: 200, headers: {}, body: (async function* () {})() };
      },
      virtualWorld(1, { environment, files }),
    );
    await send({ method: "GET", url: new URL(url), headers: {} });
    return seen;
  };
  const files = { "/etc/pki/tls/certs/ca-bundle.crt": "system", "/extra.pem": certificate, "/own.pem": "own" };
  assert.deepEqual(await routeTo("https://a", {}, files), { ca: "system" });
  assert.deepEqual(await routeTo("https://a", { AWS_CA_BUNDLE: "/extra.pem" }, files), { ca: `system\n${certificate}` });
  assert.deepEqual(await routeTo("https://a", { SSL_CERT_FILE: "/own.pem" }, files), { ca: "own" });
  assert.deepEqual(await routeTo("https://a", {}, {}), {});
  assert.deepEqual(await routeTo("http://a", { AWS_CA_BUNDLE: "/missing" }, {}), {});
  await assert.rejects(routeTo("https://a", { AWS_CA_BUNDLE: "/missing" }, files), /failed to load custom CA bundle.*\/missing/);
});
