import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import type { KubeClient } from "../../kube/client.ts";
import { HealthChecks } from "../../runtime/health.ts";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { realWorld } from "../../runtime/world.ts";
import { issueCertificate } from "../../runtime/x509.ts";
import { type CertificateSource, serveWebhooks } from "./serving.ts";

/** Pauses are short here. */
function bed(t: TestContext) {
  const real = realWorld();
  const contents = new Map<string, string>();
  const files = {
    ...real.files,
    async read(path: string) {
      const text = contents.get(path);
      if (text === undefined) throw new Error(`no such file: ${path}`);
      return Buffer.from(text);
    },
  };
  const clock = { ...real.clock, after: (ms: number, callback: () => void) => real.clock.after(Math.min(ms, 20), callback) };
  const host = { world: { ...real, clock, files }, log: silentLog, metrics: newRegistry() };
  const health = new HealthChecks(host);
  const life = new AbortController();
  t.after(() => life.abort());
  const write = () => {
    const lasting = { notBefore: new Date(clock.now() - 3_600_000), notAfter: new Date(clock.now() + 3_600_000) };
    const { cert, key } = issueCertificate(real.random, { commonName: "webhooks", hosts: ["webhooks.svc"], usage: "server", ...lasting });
    contents.set("/tls.crt", cert).set("/tls.key", key);
  };
  const isReady = () => health.answer("readyz", { verbose: false, exclude: [] }).healthy;
  const untilReady = async () => {
    for (let tries = 0; !isReady() && tries < 200; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.ok(isReady());
  };
  const source: CertificateSource = { kind: "files", certFile: "/tls.crt", keyFile: "/tls.key" };
  const start = async (port: number) => {
    const kube = {} as KubeClient;
    const serving = await serveWebhooks({ host, kube, health, port, source, webhooks: [], signal: life.signal });
    t.after(() => serving.stop(AbortSignal.timeout(1_000)));
    return serving;
  };
  return { write, isReady, untilReady, start };
}

test("webhooks are served as soon as the port is free that another process holds at first", async (t) => {
  const { write, isReady, untilReady, start } = bed(t);
  write();
  const other = createServer().listen(0, "::");
  await once(other, "listening");
  await start((other.address() as AddressInfo).port);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(!isReady());
  other.close();
  await untilReady();
});

test("webhooks are served as soon as the files of their certificate are there", async (t) => {
  const { write, isReady, untilReady, start } = bed(t);
  await start(0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(!isReady());
  write();
  await untilReady();
});
