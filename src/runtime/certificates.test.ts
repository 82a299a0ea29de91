import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { createSecureContext } from "node:tls";
import { promisify } from "node:util";
import { type VirtualWorld, virtualWorld } from "../sandbox/virtual-clock.ts";
import { CertificateUnusable, certificateFor, loadCertificates, parseNamedCertificate } from "./certificates.ts";
import { silentLog } from "./log.ts";
import { newRegistry } from "./metrics.ts";
import { issueCertificate, type KeyPair } from "./x509.ts";

const dayMs = 24 * 3_600_000;

function hostIn(world: VirtualWorld, errors: string[] = []) {
  const log = { ...silentLog, error: (message: string, fields?: object) => errors.push(`${message}: ${String(Object(fields).error)}`) };
  return { world, log, metrics: newRegistry() };
}

function pairFor(world: VirtualWorld, commonName: string, hosts?: readonly string[]): KeyPair {
  const now = world.clock.now();
  return issueCertificate(world.random, {
    commonName,
    ...(hosts && { hosts }),
    usage: "server",
    notBefore: new Date(now - dayMs),
    notAfter: new Date(now + 90 * dayMs),
  });
}

test("with nothing given a certificate for localhost is made, in memory", async () => {
  const world = virtualWorld(1);
  const certificates = await loadCertificates(hostIn(world), {});
  const certificate = new X509Certificate(certificates.fallback().cert);
  assert.equal(certificate.checkHost("localhost"), "localhost");
  assert.equal(certificate.checkIP("127.0.0.1"), "127.0.0.1");
  assert.equal(certificate.verify(certificate.publicKey), true);
  assert.equal(certificate.ca, false);
  assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
  assert.ok(certificate.validFromDate.getTime() < world.clock.now());
});

test("what is made is well formed in the eyes of openssl", async () => {
  const world = virtualWorld(1);
  const { cert } = pairFor(world, "örtlich", ["localhost", "127.0.0.1", "fd00::1", "::1"]);
  const run = promisify(execFile)("openssl", ["x509", "-noout", "-text"]);
  run.child.stdin?.end(cert);
  const text = (await run).stdout;
  assert.match(text, /Signature Algorithm: ecdsa-with-SHA256/);
  assert.match(text, /DNS:localhost, IP Address:127\.0\.0\.1, IP Address:FD00:0:0:0:0:0:0:1, IP Address:0:0:0:0:0:0:0:1/);
  assert.match(text, /CA:FALSE/);
});

test("a certificate kept in a directory is used again at the next start, and made anew when it has run out or is broken", async () => {
  const world = virtualWorld(1);
  const options = { directory: "/var/run/fairlead" };
  const first = (await loadCertificates(hostIn(world), options)).fallback().cert;
  assert.equal((await loadCertificates(hostIn(world), options)).fallback().cert, first);
  await world.advance(360 * dayMs);
  const second = (await loadCertificates(hostIn(world), options)).fallback().cert;
  assert.notEqual(second, first);
  await world.files.write("/var/run/fairlead/cloud-controller-manager.key", "garbage", 0o600);
  assert.notEqual((await loadCertificates(hostIn(world), options)).fallback().cert, second);
});

test("a certificate made here is made anew before it runs out, in a process that never restarts", async () => {
  const world = virtualWorld(1);
  const certificates = await loadCertificates(hostIn(world), { pollMs: dayMs });
  const first = certificates.fallback().cert;
  const stop = new AbortController();
  let changes = 0;
  certificates.watch(() => changes++, stop.signal);
  await world.advance(300 * dayMs);
  assert.equal(certificates.fallback().cert, first);
  await world.advance(40 * dayMs);
  assert.equal(changes, 1);
  assert.notEqual(certificates.fallback().cert, first);
  stop.abort();
});

test("given files are read again when they change; a bad new pair is named once and the old one stays", async () => {
  const world = virtualWorld(1);
  const [first, second] = [pairFor(world, "first"), pairFor(world, "second")];
  await world.files.write("/tls.crt", first.cert, 0o644);
  await world.files.write("/tls.key", first.key, 0o600);
  const errors: string[] = [];
  const certificates = await loadCertificates(hostIn(world, errors), { files: { certFile: "/tls.crt", keyFile: "/tls.key" } });
  const stop = new AbortController();
  let changes = 0;
  certificates.watch(() => changes++, stop.signal);

  await world.files.write("/tls.crt", second.cert, 0o644);
  await world.advance(60_000);
  assert.equal(certificates.fallback().cert, first.cert);
  assert.equal(changes, 0);
  assert.deepEqual(errors, [
    "new serving certificate is unusable; the old one stays in use: CertificateUnusable: the key in /tls.key does not belong to the certificate in /tls.crt",
  ]);

  await world.files.write("/tls.key", second.key, 0o600);
  await world.advance(10_000);
  assert.equal(certificates.fallback().cert, second.cert);
  assert.equal(changes, 1);
  await world.advance(60_000);
  assert.equal(changes, 1);
  stop.abort();
});

test("a new certificate that cannot be served stays out, and does not keep the others from being replaced", async () => {
  const world = virtualWorld(1);
  const put = async (name: string, pair: KeyPair) => {
    await world.files.write(`/${name}.crt`, pair.cert, 0o644);
    await world.files.write(`/${name}.key`, pair.key, 0o600);
  };
  await put("one", pairFor(world, "one"));
  await put("two", pairFor(world, "two"));
  const [errors, infos]: [string[], string[]] = [[], []];
  const host = hostIn(world, errors);
  const log = { ...host.log, info: (message: string) => infos.push(message) };
  const files = (name: string) => ({ certFile: `/${name}.crt`, keyFile: `/${name}.key` });
  const certificates = await loadCertificates({ ...host, log }, { files: files("one"), named: [files("two")] });
  const stop = new AbortController();
  /** Served, as a server would: all of them together. */
  let served: string[] = [];
  const take = () => {
    served = [certificates.fallback(), ...certificates.named()].map((pair) => {
      createSecureContext(pair);
      return new X509Certificate(pair.cert).subject;
    });
  };
  certificates.watch(take, stop.signal);

  // The certificate itself is right and fits its key; what follows it in the file is not.
  const bad = pairFor(world, "bad");
  await put("one", { ...bad, cert: `${bad.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n` });
  await put("two", pairFor(world, "two anew"));
  await world.advance(30_000);
  assert.deepEqual(served, ["CN=one", "CN=two anew"]);
  assert.deepEqual(infos, ["serving certificate was replaced"]);
  assert.equal(errors.length, 1);
  assert.match(errors[0]!, /new serving certificate is unusable; the old one stays in use: .*\/one\.crt/);
  stop.abort();
});

test("a server that will not take a new certificate keeps the old one, and says so", async () => {
  const world = virtualWorld(1);
  const put = async (pair: KeyPair) => {
    await world.files.write("/tls.crt", pair.cert, 0o644);
    await world.files.write("/tls.key", pair.key, 0o600);
  };
  const first = pairFor(world, "first");
  await put(first);
  const [errors, infos]: [string[], string[]] = [[], []];
  const host = hostIn(world, errors);
  const log = { ...host.log, info: (message: string) => infos.push(message) };
  const certificates = await loadCertificates({ ...host, log }, { files: { certFile: "/tls.crt", keyFile: "/tls.key" } });
  const stop = new AbortController();
  certificates.watch(() => {
    throw new Error("ee key too small");
  }, stop.signal);
  await put(pairFor(world, "second"));
  await world.advance(30_000);
  assert.equal(certificates.fallback().cert, first.cert);
  assert.deepEqual(infos, []);
  assert.deepEqual(errors, ["new serving certificate is unusable; the old one stays in use: Error: ee key too small"]);
  stop.abort();
});

test("files that will not do at the start are refused with the reason, and the key is not quoted", async () => {
  const world = virtualWorld(1);
  const { cert } = pairFor(world, "first");
  const files = { certFile: "/tls.crt", keyFile: "/tls.key" };
  await assert.rejects(loadCertificates(hostIn(world), { files }), /cannot read \/tls\.crt: ENOENT/);
  await world.files.write("/tls.crt", cert, 0o644);
  await world.files.write("/tls.key", "PLANTED", 0o600);
  await assert.rejects(loadCertificates(hostIn(world), { files }), (error: Error) => {
    assert.ok(error instanceof CertificateUnusable);
    assert.equal(error.message, "/tls.key holds no private key in PEM");
    assert.equal(error.cause, undefined);
    return true;
  });
});

test("the form of --tls-sni-cert-key", () => {
  assert.deepEqual(parseNamedCertificate("a.crt,a.key"), { certFile: "a.crt", keyFile: "a.key" });
  assert.deepEqual(parseNamedCertificate("a.crt,a.key:Foo.example,*.bar.example"), {
    certFile: "a.crt",
    keyFile: "a.key",
    names: ["foo.example", "*.bar.example"],
  });
  for (const bad of ["", "a.crt", "a.crt,", "a,b,c", "a.crt,a.key:", "a.crt,a.key:x,,y", "a,b:c:d"]) {
    assert.throws(() => parseNamedCertificate(bad), CertificateUnusable, bad);
  }
});

test("a host name finds its certificate: exact before wildcard, the certificate's own names when none are given", async () => {
  const world = virtualWorld(1);
  for (const [name, hosts] of [
    ["one", ["one.example"]],
    ["two", undefined],
  ] as const) {
    const pair = pairFor(world, name === "two" ? "two.example" : name, hosts);
    await world.files.write(`/${name}.crt`, pair.cert, 0o644);
    await world.files.write(`/${name}.key`, pair.key, 0o600);
  }
  const certificates = await loadCertificates(hostIn(world), {
    named: [
      { certFile: "/one.crt", keyFile: "/one.key", names: ["*.wild.example"] },
      { certFile: "/one.crt", keyFile: "/one.key" },
      { certFile: "/two.crt", keyFile: "/two.key" },
    ],
  });
  const [wild, one, two] = certificates.named();
  assert.equal(certificateFor(certificates.named(), "ONE.example"), one);
  assert.equal(certificateFor(certificates.named(), "two.example"), two);
  assert.equal(certificateFor(certificates.named(), "x.wild.example"), wild);
  assert.equal(certificateFor(certificates.named(), "x.y.wild.example"), undefined);
});
