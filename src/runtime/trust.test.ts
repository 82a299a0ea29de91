import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { awsRoots, machineRoots } from "./trust.ts";

const pem = (name: string) => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----`;
const names = (text: string | undefined) => text?.match(/^\w+$/gm) ?? [];

test("trusted are the machine's bundle, SSL_CERT_FILE and SSL_CERT_DIR as in Go, and AWS_CA_BUNDLE beside them for AWS", async () => {
  const files = {
    "/etc/pki/tls/certs/ca-bundle.crt": `${pem("system")}\n${pem("second")}`,
    "/own.pem": pem("own"),
    "/one/a.pem": `# text before\n${pem("a")}`,
    "/one/not-a-certificate": "nothing",
    "/two/b.pem": pem("b"),
    "/two/a-again.pem": pem("a"),
    "/aws.pem": pem("aws"),
  };
  const roots = async (environment: Record<string, string>, of = machineRoots) => names(await of(virtualWorld(1, { environment, files })));
  assert.deepEqual(await roots({}), ["system", "second"]);
  // A file of one's own replaces the bundle, and the machine's folders are read beside it: that is what Go does.
  assert.deepEqual(await roots({ SSL_CERT_FILE: "/own.pem" }), ["own", "system", "second"]);
  assert.deepEqual(await roots({ SSL_CERT_FILE: "/own.pem", SSL_CERT_DIR: "/none" }), ["own"]);
  assert.deepEqual(await roots({ SSL_CERT_FILE: "/missing", SSL_CERT_DIR: "/one:/two" }), ["a", "b"]);
  assert.deepEqual(await roots({ SSL_CERT_DIR: "/one:/two:/missing" }), ["system", "second", "a", "b"]);
  assert.deepEqual(await roots({ SSL_CERT_FILE: "/missing", SSL_CERT_DIR: "/missing" }), []);
  assert.deepEqual(await roots({ AWS_CA_BUNDLE: "/aws.pem" }), ["system", "second"]);
  assert.deepEqual(await roots({ AWS_CA_BUNDLE: "/aws.pem" }, awsRoots), ["system", "second", "aws"]);
  await assert.rejects(roots({ AWS_CA_BUNDLE: "/missing" }, awsRoots), /failed to load custom CA bundle.*\/missing/);
  await assert.rejects(roots({ AWS_CA_BUNDLE: "/one/not-a-certificate" }, awsRoots), /failed to load custom CA bundle/);
  assert.equal(await machineRoots(virtualWorld(1, {})), undefined);
});
