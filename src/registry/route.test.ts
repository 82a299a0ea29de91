import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { type Route, routedTransport } from "./route.ts";

test("AWS is called by the proxy of the environment, endpoints of the machine past it", async () => {
  const routes: (string | undefined)[] = [];
  const environment = { HTTPS_PROXY: "proxy:3128", HTTP_PROXY: "http://plain", NO_PROXY: ".internal" };
  const send = routedTransport(
    async (_, route) => {
      routes.push(route.proxy);
      return { status: 200, headers: {}, body: (async function* () {})() };
    },
    virtualWorld(1, { environment }),
  );
  for (const url of ["https://api.ecr.us-west-2.amazonaws.com", "http://a", "https://a.internal", "http://127.0.0.1:1"]) {
    await send({ method: "GET", url: new URL(url), headers: {} });
  }
  await send({ method: "GET", url: new URL("http://169.254.169.254"), headers: {}, direct: true });
  assert.deepEqual(routes, ["http://proxy:3128/", "http://plain/", undefined, undefined, undefined]);
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
  const files = { "/etc/pki/tls/certs/ca-bundle.crt": "system", "/extra.pem": certificate };
  assert.deepEqual(await routeTo("https://a", {}, files), { ca: "system" });
  assert.deepEqual(await routeTo("https://a", { AWS_CA_BUNDLE: "/extra.pem" }, files), { ca: `system\n${certificate}` });
  assert.deepEqual(await routeTo("https://a", {}, {}), {});
  assert.deepEqual(await routeTo("http://a", { AWS_CA_BUNDLE: "/missing" }, {}), {});
  await assert.rejects(routeTo("https://a", { AWS_CA_BUNDLE: "/missing" }, files), /failed to load custom CA bundle.*\/missing/);
});
