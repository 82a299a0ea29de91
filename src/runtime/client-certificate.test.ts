import assert from "node:assert/strict";
import type { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connect, createServer, type Server, type TLSSocket } from "node:tls";
import { acceptedByOpenssl, type Chain, chains, type MadeChain, makeChains } from "../../test/bed/chains.ts";
import { certificateFields } from "./certificate-fields.ts";
import { certifiedClient, parseAuthorities } from "./client-certificate.ts";
import { DelegatedAuth } from "./delegated-auth.ts";
import { MalformedDer } from "./der.ts";
import { silentLog } from "./log.ts";
import { newRegistry } from "./metrics.ts";
import { realWorld } from "./world.ts";
import { issueCertificate } from "./x509.ts";

const { clock, random } = realWorld();
const dayMs = 24 * 3_600_000;
let folder: string;
let server: Server;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairlead-chains-"));
  const now = clock.now();
  const own = issueCertificate(random, {
    commonName: "server",
    usage: "server",
    notBefore: new Date(now),
    notAfter: new Date(now + dayMs),
  });
  server = createServer({ ...own, requestCert: true, rejectUnauthorized: false }).listen(0, "127.0.0.1");
  await once(server, "listening");
});

after(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** The certificate as a server gets to see it, with what came along. */
async function presented({ sent, key }: MadeChain): Promise<X509Certificate | undefined> {
  const accepted = once(server, "secureConnection") as Promise<[TLSSocket]>;
  const socket = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", cert: sent, key, rejectUnauthorized: false });
  const [served] = await accepted;
  const certificate = served.getPeerX509Certificate();
  socket.destroy();
  served.destroy();
  return certificate;
}

interface Judged {
  readonly made: MadeChain;
  /** When it is judged. */
  readonly atMs: number;
  readonly accepted: boolean;
}

/** Every chain, made and judged by openssl; all at once, when the first is asked for. */
let judged: Promise<ReadonlyMap<Chain, Judged>> | undefined;
async function judge(): Promise<ReadonlyMap<Chain, Judged>> {
  const made = await makeChains(folder, chains);
  const clients = chains.map((chain, at) => ({ made: made[at]!, atMs: clock.now() + (chain.day ?? 0) * dayMs + 2_000 }));
  const accepted = await acceptedByOpenssl(clients);
  return new Map(chains.map((chain, at) => [chain, { ...clients[at]!, accepted: accepted[at]! }]));
}

async function judgedChain(chain: Chain): Promise<Judged> {
  judged ??= judge();
  return (await judged).get(chain)!;
}

for (const chain of chains) {
  const verdict = chain.openssl && chain.go;
  test(`a client's certificate ${chain.what} is ${verdict ? "accepted" : "refused"}`, async () => {
    const { made, atMs, accepted } = await judgedChain(chain);
    assert.equal(accepted, chain.openssl, "what openssl says");
    const certificate = await presented(made);
    assert.ok(certificate);
    const who = certifiedClient(certificate, parseAuthorities(made.authorities), atMs);
    assert.equal(who !== undefined, verdict, "what is said here");
  });
}

test("a front proxy is held to the same: one under an intermediate for servers names nobody", async () => {
  const auth = new DelegatedAuth(
    { world: realWorld(), log: silentLog, metrics: newRegistry() },
    {
      authorization: { authorize: async () => true },
      requestHeader: () => ({
        authorities: made.authorities,
        allowedNames: [],
        usernameHeaders: ["X-Remote-User"],
        uidHeaders: [],
        groupHeaders: ["X-Remote-Group"],
        extraHeaderPrefixes: [],
      }),
      alwaysAllowPaths: [],
      tokenTtlMs: 0,
      allowedTtlMs: 0,
      deniedTtlMs: 0,
    },
  );
  const named = async () => {
    const headers = { "x-remote-user": "mallory", "x-remote-group": "system:masters" };
    const decision = await auth.decide({ method: "GET", path: "/configz", headers, certificate: await presented(made) });
    return "user" in decision ? decision.user?.name : undefined;
  };
  const chainOf = async (name: string) => (await judgedChain(chains.find(({ what }) => what === name)!)).made;
  let made = await chainOf("under an intermediate for clients");
  assert.equal(await named(), "mallory");
  made = await chainOf("under an intermediate for servers");
  assert.equal(await named(), "system:anonymous");
});

test("a certificate with any byte changed is read or refused, and never anything else", () => {
  const now = clock.now();
  const request = {
    commonName: "alice",
    hosts: ["a.example"],
    usage: "client",
    notBefore: new Date(now),
    notAfter: new Date(now + dayMs),
  } as const;
  const raw = Buffer.from(issueCertificate(random, request).cert.replace(/-----.*-----/g, ""), "base64");
  let refused = 0;
  for (let at = 0; at < raw.length; at++) {
    for (const value of [0x00, 0x7f, 0x80, 0x84, 0xff, raw[at]! ^ 1]) {
      const changed = Buffer.from(raw);
      changed[at] = value;
      try {
        certificateFields({ raw: changed } as X509Certificate);
      } catch (error) {
        assert.ok(error instanceof MalformedDer, `byte ${at} as ${value}: ${error}`);
        refused++;
      }
    }
  }
  assert.ok(refused > 100);
});
