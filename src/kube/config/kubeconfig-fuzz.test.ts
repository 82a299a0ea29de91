/**
 * Kubeconfig files by the hundred: each is either used as a second, naive reading of it says, or refused with a message for
 * people in which no secret stands.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stringify } from "yaml";
import { createAuthority } from "../../sandbox/cluster/real/certificates.ts";
import { seededRandom } from "../../sandbox/seeded-random.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { type Access, KubeConfigError } from "./access.ts";
import { loadKubeConfig } from "./load.ts";

const secret = "hunter2secret";
const signal = new AbortController().signal;
const authority = createAuthority(virtualWorld(1), "kubernetes");
const [me, other] = [authority.client({ commonName: "me" }), authority.client({ commonName: "other" })];
const encoded = (text: string) => Buffer.from(text).toString("base64");
const files = {
  "/k/ca.crt": authority.cert,
  "/k/me.crt": me.cert,
  "/k/me.key": me.key,
  "/k/other.key": other.key,
  "/k/token": `${secret}-in-file\n`,
  "/k/empty": "\n",
};

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Entry = Record<string, Json>;
type Result = { readonly server: string; readonly access: Access } | undefined;

/** What came of a file: undefined when it was refused as it should be, in our own words and without the secret. */
async function read(text: string, story: string): Promise<Result> {
  const world = virtualWorld(1, { files: { ...files, "/k/config": text } });
  try {
    const config = await loadKubeConfig(world, { kubeconfig: "/k/config" });
    return { server: config.server.href, access: await config.access(signal) };
  } catch (error) {
    assert.ok(error instanceof KubeConfigError, `${story}\n${text}\n${error instanceof Error ? error.stack : error}`);
    assert.ok(!error.message.includes(secret), `${story}\n${text}\ngave the secret away: ${error.message}`);
    return undefined;
  }
}

function fuzz(seed: number) {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.number() * items.length)]!;
  /** Some of these keys, each with one of its values. */
  const some = (choices: Readonly<Record<string, readonly Json[]>>, share = 0.3): Entry =>
    Object.fromEntries(
      Object.entries(choices)
        .filter(() => random.number() < share)
        .map(([key, values]) => [key, pick(values)]),
    );
  return { random, pick, some };
}

const names = ["a", "b", "__proto__", "constructor", "ü/ñ", "1"];
const clusterChoices = {
  "certificate-authority": ["ca.crt", "/k/ca.crt", "nowhere", "", null],
  "certificate-authority-data": [encoded(authority.cert), encoded(secret), "", null],
  "insecure-skip-tls-verify": [true, false, null],
  "tls-server-name": ["kubernetes", "", null],
  "proxy-url": ["", null, "http://proxy"],
  unknown: [1, null, { nested: [] }],
};
const userChoices = {
  token: [secret, "", null],
  tokenFile: ["token", "/k/token", "empty", "nowhere", "", null],
  "client-certificate": ["me.crt", "", null],
  "client-certificate-data": [encoded(me.cert), "", null],
  "client-key": ["me.key", "other.key", "", null],
  "client-key-data": [encoded(me.key), encoded(other.key), encoded(secret), "", null],
  username: ["", null],
  exec: [null],
};

function randomFile(seed: number): Entry {
  const { pick, some, random } = fuzz(seed);
  const entries = (count: number, make: (name: string) => Json) => Array.from({ length: count }, () => make(pick(names)));
  const server = () => pick<Json>(["https://api:6443", "api", "http://[fd00::1]:80/base", "ftp://x", `https://u:${secret}@x`, "", null]);
  return {
    "current-context": random.number() < 0.95 ? pick(names) : pick(["", null]),
    contexts: entries(5, (name) => ({ name, context: { cluster: pick(names), user: pick<Json>([...names, "", null]) } })),
    clusters: entries(6, (name) => ({
      name,
      cluster: { server: random.number() < 0.8 ? "https://api:6443" : server(), ...some(clusterChoices, 0.15) },
    })),
    users: entries(8, (name) => ({ name, user: pick<Json>([null, some(userChoices), some(userChoices)]) })),
    ...some({ preferences: [{}, null], kind: ["Config"], extensions: [null, []] }),
  };
}

/** The second reading: slow, plain, and written against kubectl's documentation only. */
function expected(file: Entry): Result {
  const has = (value: Json | undefined): value is string => typeof value === "string" && value !== "";
  const find = (list: Json | undefined, name: Json | undefined) => (list as Entry[]).find((entry) => entry.name === name);
  const at = (path: Json | undefined) => {
    const known = Object.entries(files).find(([each]) => each === path || each === `/k/${String(path)}`);
    return known?.[1];
  };
  const decode = (data: Json | undefined) => Buffer.from(String(data), "base64").toString();
  const context = find(file.contexts, file["current-context"])?.context as Entry | undefined;
  const cluster = find(file.clusters, context?.cluster)?.cluster as Entry | undefined;
  const named = has(context?.user) ? find(file.users, context.user) : { user: {} };
  if (!has(file["current-context"]) || !context || !cluster || !named) return undefined;
  const user = (named.user ?? {}) as Entry;
  if (!has(cluster.server) || /ftp|@/.test(cluster.server) || has(cluster["proxy-url"])) return undefined;

  const text = (entry: Entry, key: string) => (has(entry[`${key}-data`]) ? decode(entry[`${key}-data`]) : at(entry[key]));
  const wanted = (entry: Entry, key: string) => has(entry[`${key}-data`]) || has(entry[key]);
  const ca = text(cluster, "certificate-authority");
  const insecure = cluster["insecure-skip-tls-verify"] === true;
  if (wanted(cluster, "certificate-authority") && (insecure || ca !== authority.cert)) return undefined;
  const [cert, key] = [text(user, "client-certificate"), text(user, "client-key")];
  const [wantsCert, wantsKey] = [wanted(user, "client-certificate"), wanted(user, "client-key")];
  if (wantsCert !== wantsKey || (wantsCert && (cert !== me.cert || key !== me.key))) return undefined;
  const token = has(user.tokenFile) ? at(user.tokenFile)?.trim() : user.token;
  if (has(user.tokenFile) && !has(token)) return undefined;

  const secured = wanted(cluster, "certificate-authority") || wantsCert || insecure;
  const address = cluster.server.includes("://") ? cluster.server : `${secured ? "https" : "http"}://${cluster.server}`;
  const serverName = has(cluster["tls-server-name"]) ? cluster["tls-server-name"] : undefined;
  const tls = { ca, cert, key, serverName, insecure };
  return { server: new URL(address).href, access: { headers: has(token) ? { authorization: `Bearer ${token}` } : {}, tls } };
}

/** Without what makes no difference: keys that are undefined or empty. */
function essence(result: Result): string {
  if (result === undefined) return "refused";
  const { server, access } = result;
  const tls = Object.fromEntries(Object.entries(access.tls).filter(([, value]) => value !== undefined && value !== ""));
  return JSON.stringify({ server, headers: access.headers, tls }, [
    "server",
    "headers",
    "authorization",
    "tls",
    "ca",
    "cert",
    "key",
    "serverName",
    "insecure",
  ]);
}

test("four hundred files are used as a second reading says, or refused; null is as good as left out", async () => {
  const counts = { used: 0, refused: 0 };
  for (let seed = 1; seed <= 400; seed++) {
    const file = randomFile(seed);
    const text = stringify(file);
    const result = await read(text, `seed ${seed}`);
    assert.equal(essence(result), essence(expected(file)), `seed ${seed}\n${text}`);
    if (result === undefined) counts.refused++;
    else counts.used++;
  }
  // A generator of rubbish alone would prove nothing.
  assert.ok(counts.used > 40 && counts.refused > 40, JSON.stringify(counts));
});

const whole = stringify({
  "current-context": "a",
  contexts: [{ name: "a", context: { cluster: "b", user: "u" } }],
  clusters: [{ name: "b", cluster: { server: "https://api:6443", "certificate-authority": "ca.crt" } }],
  users: [{ name: "u", user: { token: secret, exec: { apiVersion: "client.authentication.k8s.io/v1beta1", command: "aws", env: null } } }],
});

test("files with characters changed, lost or added are used or refused in our own words, never with the secret", async () => {
  const pieces = [
    "*",
    "&",
    "!",
    "!!",
    "- ",
    ": ",
    "\n",
    "\t",
    '"',
    "'",
    "{",
    "}",
    "[",
    "]",
    "|",
    ">",
    "%",
    "@",
    "`",
    "<<: ",
    "---\n",
    "null",
    "\u0000",
  ];
  for (let seed = 1; seed <= 1000; seed++) {
    const { random, pick } = fuzz(seed);
    let text = whole;
    for (let changes = 1 + Math.floor(random.number() * 3); changes > 0; changes--) {
      const at = Math.floor(random.number() * text.length);
      const rest = pick([at, at, at + 1]);
      text = text.slice(0, at) + (random.number() < 0.8 ? pick(pieces) : "") + text.slice(rest);
    }
    if (random.number() < 0.1) text = text.slice(0, Math.floor(random.number() * text.length));
    await read(text, `seed ${seed}`);
  }
});
