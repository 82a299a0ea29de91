import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { connect, createServer, type TLSSocket } from "node:tls";
import { realWorld } from "../../../runtime/world.ts";
import { createAuthority } from "./certificates.ts";

test("a certificate is signed by its authority, names its subject and no other authority vouches for it", () => {
  const authority = createAuthority(realWorld(), "cluster");
  const admin = new X509Certificate(authority.client({ commonName: "admin", organizations: ["system:masters", "ops"] }).cert);
  assert.equal(admin.subject, "O=system:masters\nO=ops\nCN=admin");
  assert.ok(admin.checkIssued(new X509Certificate(authority.cert)));
  assert.ok(admin.verify(new X509Certificate(authority.cert).publicKey));
  assert.ok(!admin.verify(new X509Certificate(createAuthority(realWorld(), "cluster").cert).publicKey));
});

test("server and client prove themselves to each other over TLS", async (t) => {
  const authority = createAuthority(realWorld(), "cluster");
  const server = createServer({
    ...authority.server({ commonName: "api" }, ["127.0.0.1", "localhost"]),
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());

  const accepted = once(server, "secureConnection");
  const socket = connect({
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    ca: authority.cert,
    ...authority.client({ commonName: "someone" }),
  });
  t.after(() => socket.destroy());
  await once(socket, "secureConnect");
  const [peer] = (await accepted) as [TLSSocket];
  assert.equal(peer.getPeerCertificate().subject.CN, "someone");
});
