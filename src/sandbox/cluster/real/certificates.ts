/** The certificates of one cluster: its own authorities, and what they sign. Nothing outlives the cluster's folder. */
import { generateKeyPairSync } from "node:crypto";
import type { World } from "../../../runtime/world.ts";
import { type CertificateRequest, issueCertificate, type KeyPair } from "../../../runtime/x509.ts";

export interface Subject {
  readonly commonName: string;
  /** Kubernetes reads these as the groups of a client. */
  readonly organizations?: readonly string[];
}

/** Signs certificates of one trust: the cluster has one for servers and clients, another for the front proxy. */
export interface Authority {
  /** PEM. */
  readonly cert: string;
  client(subject: Subject): KeyPair;
  /** For a server reached under these names and addresses. */
  server(subject: Subject, hosts: readonly string[]): KeyPair;
}

const day = 24 * 60 * 60 * 1000;

/** A new authority with a key of its own. */
export function createAuthority(world: World, commonName: string): Authority {
  const now = world.clock.now();
  const lifetime = { notBefore: new Date(now - day), notAfter: new Date(now + 30 * day) };
  const root = issueCertificate(world.random, { commonName, usage: "authority", ...lifetime });
  const sign = (request: Omit<CertificateRequest, keyof typeof lifetime>) =>
    issueCertificate(world.random, { ...request, ...lifetime }, { ...root, commonName });
  return {
    cert: root.cert,
    client: (subject) => sign({ ...subject, usage: "client" }),
    server: (subject, hosts) => sign({ ...subject, hosts, usage: "server" }),
  };
}

/** The key pair that signs service account tokens (PEM; the apiserver wants no certificate here). */
export function createTokenKeys(): { readonly privateKey: string; readonly publicKey: string } {
  return generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
}
