/**
 * Several kubeconfig files by the hundred, found as kubectl finds them: the configuration is what a second reading of
 * kubectl's documentation gives, which works the other way round (from the last file to the first, overwriting).
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stringify } from "yaml";
import { createAuthority } from "../../sandbox/cluster/real/certificates.ts";
import { seededRandom } from "../../sandbox/seeded-random.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { KubeConfigError } from "./access.ts";
import { discoverKubeConfig, loadKubeConfig } from "./load.ts";

const signal = new AbortController().signal;
const folders = ["/a", "/b", "/c/.kube", "/home/me/.kube"];
/** Each folder has an authority and a token of its own under the same names: a path resolved against the wrong one shows. */
const beside = new Map(
  folders.map((folder) => [folder, { ca: createAuthority(virtualWorld(1), `authority of ${folder}`).cert, token: `token-of-${folder}` }]),
);
const names = ["prod", "test", "__proto__", "1"];

type Entry = Readonly<Record<string, string>>;
interface File {
  readonly "current-context"?: string;
  readonly contexts: readonly { readonly name: string; readonly context: Entry }[];
  readonly clusters: readonly { readonly name: string; readonly cluster: Entry }[];
  readonly users: readonly { readonly name: string; readonly user: Entry }[];
}

interface Case {
  readonly files: ReadonlyMap<string, File>;
  readonly environment: Readonly<Record<string, string>>;
  readonly context: string;
}

interface Outcome {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly ca: string | undefined;
  readonly authorization: string | undefined;
}

function randomCase(seed: number): Case {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.number() * items.length)]!;
  const chance = (share: number) => random.number() < share;
  const some = <T>(make: (name: string) => T): T[] => names.filter(() => chance(0.75)).map(make);
  const file = (): File => ({
    ...(chance(0.6) && { "current-context": chance(0.1) ? "" : pick(names) }),
    contexts: some((name) => ({
      name,
      context: { cluster: pick(names), ...(chance(0.8) && { user: pick(names) }), ...(chance(0.5) && { namespace: pick(["shop", ""]) }) },
    })),
    clusters: some((name) => ({
      name,
      cluster: {
        server: `https://${pick(["x", "y", "z"])}.example:${Math.floor(random.number() * 1000) + 1}`,
        ...(chance(0.5) && { "certificate-authority": pick(["ca.crt", "../b/ca.crt", "/a/ca.crt"]) }),
      },
    })),
    users: some((name) => ({
      name,
      user: pick<Entry>([{}, { token: `given-${Math.floor(random.number() * 1000)}` }, { tokenFile: "token" }, { tokenFile: "nowhere" }]),
    })),
  });
  const paths = folders.map((folder) => `${folder}/config`);
  const files = new Map(paths.filter(() => chance(0.8)).map((path) => [path, file()]));
  const listed = Array.from({ length: 1 + Math.floor(random.number() * 5) }, () => pick([...paths, ...paths, "", "/missing/config"])).join(
    ":",
  );
  return {
    files,
    environment: { ...(chance(0.85) && { KUBECONFIG: listed }), ...(chance(0.9) && { HOME: "/home/me" }) },
    context: chance(0.3) ? pick(names) : "",
  };
}

function worldOf({ files, environment }: Pick<Case, "files" | "environment">) {
  const contents = [...files].map(([path, file]) => [path, stringify(file)]);
  const others = [...beside].flatMap(([folder, { ca, token }]) => [
    [`${folder}/ca.crt`, ca],
    [`${folder}/token`, token],
  ]);
  return virtualWorld(1, { files: Object.fromEntries([...contents, ...others]), environment });
}

async function actual(given: Case): Promise<Outcome | undefined> {
  try {
    const config = await discoverKubeConfig(worldOf(given), { context: given.context });
    const { headers, tls } = await config.access(signal);
    return { server: config.server.origin, namespace: config.namespace, ca: tls.ca, authorization: headers.authorization };
  } catch (error) {
    assert.ok(error instanceof KubeConfigError, String(error));
    return undefined;
  }
}

/** Undefined: refused. */
function expected({ files, environment, context }: Case): Outcome | undefined {
  const list = environment.KUBECONFIG ? environment.KUBECONFIG.split(":") : environment.HOME ? [`${environment.HOME}/.kube/config`] : [];
  let current = "";
  const contexts = new Map<string, Entry>();
  const clusters = new Map<string, Entry & { readonly folder: string }>();
  const users = new Map<string, Entry & { readonly folder: string }>();
  // From the weakest to the strongest, each over the one before.
  for (const path of list.toReversed()) {
    const file = files.get(path);
    if (file === undefined) continue;
    const folder = path.replace(/\/config$/, "");
    if (file["current-context"]) current = file["current-context"];
    for (const entry of file.contexts) contexts.set(entry.name, entry.context);
    for (const entry of file.clusters) clusters.set(entry.name, { ...entry.cluster, folder });
    for (const entry of file.users) users.set(entry.name, { ...entry.user, folder });
  }
  const chosen = contexts.get(context || current);
  const cluster = clusters.get(chosen?.cluster ?? "nothing");
  const user = chosen?.user ? users.get(chosen.user) : { folder: "" };
  if (!chosen || !cluster || !user || user.tokenFile === "nowhere") return undefined;
  const authority = cluster["certificate-authority"];
  const where = {
    "ca.crt": cluster.folder,
    "/a/ca.crt": "/a",
    "../b/ca.crt": cluster.folder === "/a" || cluster.folder === "/b" ? "/b" : "",
  };
  const ca = authority === undefined ? undefined : beside.get(where[authority as keyof typeof where])?.ca;
  if (authority !== undefined && ca === undefined) return undefined;
  const token = user.tokenFile ? beside.get(user.folder)!.token : user.token;
  return { server: cluster.server!, namespace: chosen.namespace || undefined, ca, authorization: token && `Bearer ${token}` };
}

test("a thousand sets of files are merged, or refused, as a second reading says", async () => {
  const counts = { used: 0, refused: 0, ofTwoFiles: 0 };
  for (let seed = 1; seed <= 1000; seed++) {
    const given = randomCase(seed);
    const outcome = await actual(given);
    const wanted = expected(given);
    const story = `seed ${seed}\n${JSON.stringify(given.environment)} ${given.context}\n${JSON.stringify([...given.files])}`;
    assert.deepEqual(outcome, wanted, story);
    if (outcome === undefined) counts.refused++;
    else counts.used++;
    // Without each of the files it would be another: entries of several files were in use.
    const without = [...given.files.keys()].filter((path) => {
      const rest = expected({ ...given, files: new Map([...given.files].filter(([other]) => other !== path)) });
      return outcome !== undefined && JSON.stringify(rest) !== JSON.stringify(wanted);
    });
    if (without.length > 1) counts.ofTwoFiles++;
  }
  assert.ok(counts.used > 200 && counts.refused > 200 && counts.ofTwoFiles > 80, JSON.stringify(counts));
});

const one: File = {
  "current-context": "prod",
  contexts: [{ name: "prod", context: { cluster: "prod" } }],
  clusters: [{ name: "prod", cluster: { server: "https://one" } }],
  users: [],
};

test("a context that is not there is named, with those that are", async () => {
  const world = worldOf({ files: new Map([["/a/config", one]]), environment: { KUBECONFIG: "/a/config" } });
  await assert.rejects(
    discoverKubeConfig(world, { context: "prd" }),
    /--context names "prd", which kubeconfig \/a\/config does not have; it has "prod"/,
  );
});

test("of an entry that two files have, nothing of the second is used", async () => {
  const second: File = {
    ...one,
    users: [],
    clusters: [{ name: "prod", cluster: { server: "https://two", "certificate-authority": "ca.crt" } }],
  };
  const files = new Map([
    ["/a/config", one],
    ["/b/config", second],
  ]);
  const config = await discoverKubeConfig(worldOf({ files, environment: { KUBECONFIG: "/a/config:/b/config" } }), {});
  assert.equal(config.server.href, "https://one/");
  assert.equal((await config.access(signal)).tls.ca, undefined);
});

test("in a pod without a kubeconfig it is the service account and its namespace; with one it is the file, as for kubectl", async () => {
  const folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  const account = { [`${folder}/token`]: "mine", [`${folder}/ca.crt`]: beside.get("/a")!.ca, [`${folder}/namespace`]: "kube-system\n" };
  const environment = { HOME: "/home/me", KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
  const pod = await discoverKubeConfig(virtualWorld(1, { files: account, environment }), {});
  assert.deepEqual([pod.server.hostname, pod.namespace, pod.fromFile], ["10.0.0.1", "kube-system", undefined]);
  const files = { ...account, "/home/me/.kube/config": stringify(one) };
  const desk = await discoverKubeConfig(virtualWorld(1, { files, environment }), {});
  assert.deepEqual([desk.server.hostname, desk.fromFile], ["one", true]);
});

test("what runs in the cluster looks neither at KUBECONFIG nor into the home folder", async () => {
  const files = { "/home/me/.kube/config": stringify(one), "/a/config": stringify(one) };
  const world = virtualWorld(1, { files, environment: { HOME: "/home/me", KUBECONFIG: "/a/config" } });
  await assert.rejects(loadKubeConfig(world, {}), /no configuration has been provided/);
});

test("a file asked for by name must be there; what is found by default need not, and the message says where it was looked for", async () => {
  const world = worldOf({ files: new Map(), environment: { KUBECONFIG: "/a/config:/b/config" } });
  await assert.rejects(discoverKubeConfig(world, { kubeconfig: "/a/config" }), /cannot read kubeconfig \/a\/config: ENOENT/);
  await assert.rejects(discoverKubeConfig(world, {}), /no configuration has been provided.*there is nothing in \/a\/config, \/b\/config$/);
});

test("an entry that is not in use may be one that no client of today understands", async () => {
  const old = { name: "old", user: { exec: { apiVersion: "client.authentication.k8s.io/v1alpha1", command: "x" } } };
  const world = virtualWorld(1, { files: { "/a/config": stringify({ ...one, users: [old] }) }, environment: { KUBECONFIG: "/a/config" } });
  assert.equal((await discoverKubeConfig(world, {})).server.href, "https://one/");
});
