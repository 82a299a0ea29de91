import assert from "node:assert/strict";
import { test } from "node:test";
import { stringify } from "yaml";
import { createAuthority } from "../../sandbox/cluster/real/certificates.ts";
import type { VirtualWorldOptions } from "../../sandbox/virtual-clock.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { KubeConfigError } from "./access.ts";
import type { ProgramCall, RunProgram } from "./exec-plugin.ts";
import { runProgram } from "./exec-plugin.ts";
import { loadKubeConfig } from "./load.ts";

const secret = "hunter2-token";
const pem = (what: string) => `-----BEGIN ${what}-----\nAAAA\n-----END ${what}-----\n`;
const encoded = (text: string) => Buffer.from(text).toString("base64");
const signal = new AbortController().signal;
const authority = createAuthority(virtualWorld(1), "kubernetes");
const [pairOne, pairTwo] = [authority.client({ commonName: "one" }), authority.client({ commonName: "two" })];

/** A kubeconfig file with one context, changed as the test says. */
function kubeconfig(cluster: object = {}, user: object = { token: secret }, file: object = {}): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "prod",
    contexts: [{ name: "prod", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: "https://api.example:6443/base", ...cluster } }],
    users: [{ name: "u", user }],
    ...file,
  });
}

function load(text: string, options: { readonly master?: string; readonly run?: RunProgram } = {}, files: Record<string, string> = {}) {
  const world = virtualWorld(1, { files: { "/etc/k/config": text, ...files } });
  return { world, config: loadKubeConfig(world, { kubeconfig: "/etc/k/config", ...options }) };
}

test("server, trust and token come from the current context", async () => {
  const { config } = load(kubeconfig({ "certificate-authority-data": encoded(authority.cert), "tls-server-name": "kubernetes" }));
  const loaded = await config;
  assert.equal(loaded.server.href, "https://api.example:6443/base");
  assert.equal(loaded.origin, "kubeconfig /etc/k/config, context prod");
  const { headers, tls } = await loaded.access(signal);
  assert.deepEqual(headers, { authorization: `Bearer ${secret}` });
  assert.equal(tls.ca, authority.cert);
  assert.equal(tls.serverName, "kubernetes");
});

/** A kubeconfig that names files for everything that rotates, and how they are replaced. */
async function rotating() {
  const { world, config } = load(
    kubeconfig({ "certificate-authority": "ca.crt" }, { "client-certificate": "me.crt", "client-key": "/keys/me.key" }),
    {},
    { "/etc/k/ca.crt": authority.cert, "/etc/k/me.crt": pairOne.cert, "/keys/me.key": pairOne.key },
  );
  const loaded = await config;
  const write = (path: string, text: string) => world.files.write(path, text, 0o600);
  const used = async () => {
    const { ca, cert, key } = (await loaded.access(signal)).tls;
    const pair = [pairOne, pairTwo].find((each) => each.cert === cert && each.key === key);
    return { ca, pair: pair === pairOne ? "one" : pair === pairTwo ? "two" : "mixed" };
  };
  return { world, loaded, write, used };
}

test("client certificates and authorities are read from files beside the kubeconfig, and again when they rotate", async () => {
  const { world, loaded, write, used } = await rotating();
  assert.deepEqual((await loaded.access(signal)).tls, { ca: authority.cert, ...pairOne, serverName: undefined, insecure: false });
  await write("/etc/k/me.crt", pairTwo.cert);
  await write("/keys/me.key", pairTwo.key);
  await world.advance(60_000);
  assert.equal((await used()).pair, "two");
});

test("a certificate and its key are replaced together or not at all, in whichever order and however slowly they are written", async () => {
  for (const order of [
    ["/etc/k/me.crt", "/keys/me.key"],
    ["/keys/me.key", "/etc/k/me.crt"],
  ]) {
    for (const readAt of [0, 30_000, 59_000]) {
      const { world, loaded, write, used } = await rotating();
      await world.advance(readAt);
      for (const path of order) {
        const text = path.endsWith(".crt") ? pairTwo.cert : pairTwo.key;
        for (const part of ["", text.slice(0, 100), text]) {
          await write(path, part);
          for (let waited = 0; waited < 90_000; waited += 10_000) {
            assert.notEqual((await used()).pair, "mixed");
            await world.advance(10_000);
          }
        }
      }
      assert.equal((await used()).pair, "two");
      assert.equal(loaded.concern, undefined);
    }
  }
});

test("while the files do not fit they are looked at every second, and it is said why they are not used", async () => {
  const { world, loaded, write, used } = await rotating();
  await write("/etc/k/me.crt", pairTwo.cert);
  await world.advance(60_000);
  assert.equal((await used()).pair, "one");
  assert.match(loaded.concern ?? "", /me\.crt .*client-certificate of kubeconfig.* and \/keys\/me\.key .* do not belong together/);
  await write("/keys/me.key", pairTwo.key);
  await world.advance(1_000);
  assert.equal((await used()).pair, "two");
  assert.equal(loaded.concern, undefined);
});

test("after TLS failed authority and certificate are read at once; half an authority is not used", async () => {
  const { loaded, write, used } = await rotating();
  const next = createAuthority(virtualWorld(2), "next");
  await write("/etc/k/ca.crt", authority.cert + next.cert.slice(0, 60));
  loaded.tlsFailed();
  assert.equal((await used()).ca, authority.cert);
  await write("/etc/k/ca.crt", authority.cert + next.cert);
  assert.equal((await used()).ca, authority.cert, "looked at a moment ago");
  loaded.tlsFailed();
  assert.equal((await used()).ca, authority.cert + next.cert);
});

test("--master overrides the server, and alone is enough", async () => {
  assert.equal((await load(kubeconfig(), { master: "https://other:1" }).config).server.href, "https://other:1/");
  const alone = await loadKubeConfig(virtualWorld(1), { master: "127.0.0.1:8080" });
  assert.equal(alone.server.href, "http://127.0.0.1:8080/");
  assert.deepEqual((await alone.access(signal)).headers, {});
});

const inPod: VirtualWorldOptions = {
  environment: { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" },
  files: {
    "/var/run/secrets/kubernetes.io/serviceaccount/token": "one\n",
    "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt": authority.cert,
  },
};

test("in a pod the service account is used; its token is read again within a minute and at once after a 401", async () => {
  const world = virtualWorld(1, inPod);
  const loaded = await loadKubeConfig(world, {});
  assert.equal(loaded.server.href, "https://[fd00::1]/");
  const access = () => loaded.access(signal);
  const token = async () => (await access()).headers.authorization;
  const rotate = (text: string) => world.files.write("/var/run/secrets/kubernetes.io/serviceaccount/token", text, 0o600);
  assert.equal(await token(), "Bearer one");
  await rotate("two");
  assert.equal(await token(), "Bearer one");
  await world.advance(60_000);
  assert.equal(await token(), "Bearer two");
  await rotate("three");
  loaded.refused(await access());
  assert.equal(await token(), "Bearer three");
  await rotate("\n");
  loaded.refused(await access());
  assert.equal(await token(), "Bearer three", "an empty file is one that is being written");
});

test("a token file that vanishes for a moment does no harm", async () => {
  let vanished = false;
  const world = virtualWorld(1, inPod);
  const files = { ...world.files, read: (path: string) => (vanished ? Promise.reject(new Error("ENOENT")) : world.files.read(path)) };
  const loaded = await loadKubeConfig({ ...world, files }, {});
  vanished = true;
  loaded.refused(await loaded.access(signal));
  assert.equal((await loaded.access(signal)).headers.authorization, "Bearer one");
});

test("with no configuration at all the message is the one that operators know, and KUBERNETES_MASTER does help", async () => {
  const known = /^invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable/;
  await assert.rejects(loadKubeConfig(virtualWorld(1), {}), { name: "KubeConfigError", message: known });
  const noToken = virtualWorld(1, { environment: inPod.environment });
  await assert.rejects(loadKubeConfig(noToken, {}), (error: Error) => known.test(error.message) && /ENOENT/.test(error.message));
  const master = virtualWorld(1, { environment: { KUBERNETES_MASTER: "http://127.0.0.1:8080" } });
  assert.equal((await loadKubeConfig(master, {})).server.port, "8080");
});

test("what is wrong with a file is said with the file, the key and a remedy, and never with a secret", async () => {
  const certificates = { "client-certificate-data": encoded(pem("CERTIFICATE")) };
  const cases: [string, string, RegExp][] = [
    ["broken YAML", `users:\n  - token: "${secret}\n\t}`, /kubeconfig \/etc\/k\/config is not valid YAML: \w+ at line \d+/],
    ["a list for a text", kubeconfig({}, { token: [secret] }), /users\["u"\]\.user\.token is wrong: .*string/],
    ["no current context", kubeconfig({}, {}, { "current-context": "" }), /current-context is not set; run `kubectl config use-context/],
    ["unknown context", kubeconfig({}, {}, { "current-context": "x" }), /current-context names context "x", which the file does not have/],
    ["unknown cluster", kubeconfig({}, {}, { clusters: [] }), /contexts\["prod"\]\.context\.cluster names cluster "c"/],
    ["unknown user", kubeconfig({}, {}, { users: [] }), /contexts\["prod"\]\.context\.user names user "u"/],
    ["no server", kubeconfig({ server: "" }), /clusters\["c"\]\.cluster\.server is not set; add it or pass --master/],
    ["a server that is no URL", kubeconfig({ server: "ftp://x" }), /clusters\["c"\]\.cluster\.server is not an http or https URL/],
    ["a server with a password", kubeconfig({ server: `https://a:${secret}@x` }), /must not hold a user name or password/],
    ["a proxy", kubeconfig({ "proxy-url": "http://p" }), /proxy-url is not supported/],
    ["basic authentication", kubeconfig({}, { username: "a", password: secret }), /users\["u"\]\.user\.username is not supported: .*1\.19/],
    ["impersonation", kubeconfig({}, { token: secret, as: "root" }), /users\["u"\]\.user\.as is not supported/],
    ["an auth provider", kubeconfig({}, { "auth-provider": { name: "gcp" } }), /auth-provider is not supported.*use exec/],
    ["a certificate without key", kubeconfig({}, certificates), /needs client-certificate and client-key together/],
    [
      "data that is no PEM",
      kubeconfig({ "certificate-authority-data": encoded(secret) }),
      /certificate-authority-data is not a base64-encoded PEM/,
    ],
    [
      "a certificate with another's key",
      kubeconfig({}, { "client-certificate-data": encoded(pairOne.cert), "client-key-data": encoded(pairTwo.key) }),
      /client-certificate-data of kubeconfig .* and .*client-key-data of .* do not belong together/,
    ],
    ["an authority that is none", kubeconfig({ "certificate-authority-data": encoded(pem("CERTIFICATE")) }), /no whole PEM certificate/],
    ["trust and mistrust", kubeconfig({ "insecure-skip-tls-verify": true, "certificate-authority": "x" }), /has both/],
    [
      "a missing file",
      kubeconfig({}, { tokenFile: "nowhere" }),
      /cannot read \/etc\/k\/nowhere, named by users\["u"\]\.user\.tokenFile.*ENOENT/,
    ],
  ];
  for (const [what, text, message] of cases) {
    await assert.rejects(load(text).config, (error: Error) => {
      assert.ok(error instanceof KubeConfigError, `${what}: ${error}`);
      assert.match(error.message, message, what);
      assert.ok(!error.message.includes(secret), `${what} gives the secret away`);
      return true;
    });
  }
  await assert.rejects(
    loadKubeConfig(virtualWorld(1), { kubeconfig: "/nowhere" }),
    /cannot read kubeconfig \/nowhere: ENOENT; check --kubeconfig/,
  );
});

const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "aws", args: ["eks"], interactiveMode: "IfAvailable" };
const printed = (status: object, apiVersion = exec.apiVersion) => JSON.stringify({ apiVersion, kind: "ExecCredential", status });

/** A plugin that prints this, and the calls made of it. */
function plugin(print: () => string, exitCode = 0, stderr = "") {
  const calls: ProgramCall[] = [];
  const run: RunProgram = async (call) => {
    calls.push(call);
    return { exitCode, stdout: print(), stderr };
  };
  return { calls, run };
}

test("a plugin's token is kept until it expires, and fetched anew after a 401", async () => {
  let token = 0;
  const { calls, run } = plugin(() => printed({ token: `t${++token}`, expirationTimestamp: "2026-01-01T00:10:00Z" }));
  const { world, config } = load(
    kubeconfig({}, { exec: { ...exec, env: [{ name: "AWS_PROFILE", value: "p" }], provideClusterInfo: true } }),
    { run },
  );
  const loaded = await config;
  const used = async () => (await loaded.access(signal)).headers.authorization;
  assert.deepEqual(await Promise.all([used(), used()]), ["Bearer t1", "Bearer t1"]);
  assert.equal(calls[0]?.environment.AWS_PROFILE, "p");
  assert.deepEqual(JSON.parse(calls[0]?.environment.KUBERNETES_EXEC_INFO ?? ""), {
    apiVersion: exec.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, cluster: { server: "https://api.example:6443/base" } },
  });
  await world.advance(589_000);
  assert.equal(await used(), "Bearer t1");
  loaded.refused(await loaded.access(signal));
  assert.equal(await used(), "Bearer t2");
  await world.advance(2_000);
  assert.equal(await used(), "Bearer t3");
});

test("however many requests are refused with one token, the plugin runs once", async () => {
  const { calls, run } = plugin(() => printed({ token: `t${calls.length}` }));
  const loaded = await load(kubeconfig({}, { exec }), { run }).config;
  const inFlight = await Promise.all(Array.from({ length: 20 }, () => loaded.access(signal)));
  const renewed: Promise<unknown>[] = [];
  for (const access of inFlight) {
    loaded.refused(access);
    renewed.push(loaded.access(signal));
    await Promise.resolve();
  }
  await Promise.all(renewed);
  for (const access of inFlight.slice(10)) loaded.refused(access);
  assert.equal((await loaded.access(signal)).headers.authorization, "Bearer t2");
  assert.equal(calls.length, 2);
});

test("who has little time does not wait for a plugin that another's request started, and does not start a second one", async () => {
  const answer = Promise.withResolvers<void>();
  const { calls, run } = plugin(() => printed({ token: "t" }));
  const slow: RunProgram = async (call, limited) => {
    const result = await run(call, limited);
    await answer.promise;
    return result;
  };
  const loaded = await load(kubeconfig({}, { exec }), { run: slow }).config;
  const patient = loaded.access(signal);
  const hurry = new AbortController();
  const hurried = loaded.access(hurry.signal).catch((error: Error) => error.message);
  hurry.abort(new Error("5 s are over"));
  assert.equal(await hurried, "5 s are over");
  const third = loaded.access(signal);
  answer.resolve();
  assert.equal((await patient).headers.authorization, "Bearer t");
  await third;
  assert.equal(calls.length, 1);
});

test("a plugin may give a client certificate", async () => {
  const { run } = plugin(() => printed({ clientCertificateData: pairOne.cert, clientKeyData: pairOne.key }));
  const { tls, headers } = await (await load(kubeconfig({}, { exec }), { run }).config).access(signal);
  assert.deepEqual([tls.cert, tls.key, headers], [pairOne.cert, pairOne.key, {}]);
});

test("what is wrong with a plugin is said with its own words, its hint, and never with what it printed", async () => {
  const cases: [object, ReturnType<typeof plugin>, RegExp][] = [
    [
      { installHint: "brew install aws" },
      plugin(() => secret, 3, "no profile"),
      /aws .*failed with exit code 3: no profile; brew install aws/,
    ],
    [{}, plugin(() => secret), /printed something that is not JSON/],
    [{}, plugin(() => JSON.stringify({ kind: secret })), /printed no usable ExecCredential/],
    [{}, plugin(() => printed({ token: secret }, "client.authentication.k8s.io/v1beta1")), /answered with apiVersion .*v1beta1/],
    [{}, plugin(() => printed({})), /neither a token nor a client certificate/],
    [{}, plugin(() => printed({ token: secret, clientKeyData: secret })), /clientCertificateData and clientKeyData together/],
    [
      {},
      plugin(() => printed({ clientCertificateData: pairOne.cert, clientKeyData: pairTwo.key })),
      /cannot be used: clientCertificateData and clientKeyData do not belong together/,
    ],
    [{}, plugin(() => printed({ token: secret, expirationTimestamp: "soon" })), /not a time/],
    [{ interactiveMode: "Always" }, plugin(() => ""), /interactiveMode is Always, but this process has no terminal/],
    [{ interactiveMode: undefined }, plugin(() => ""), /interactiveMode must be set/],
  ];
  for (const [changes, { run }, message] of cases) {
    const used = async () => (await load(kubeconfig({}, { exec: { ...exec, ...changes } }), { run }).config).access(signal);
    await assert.rejects(used(), (error: Error) => {
      assert.match(error.message, message);
      return !error.message.includes(secret);
    });
  }
});

test("what a failing plugin prints on stderr reaches the message without its secrets", async () => {
  const samples = [
    "> Authorization: PLANTED-opaque",
    "request headers: {'Authorization': 'AWS PLANTED', 'X-Amz-Security-Token': b'PLANTED//='}",
    "users:\n- user:\n    client-key-data: UExBPLANTED\n",
    "error: got token: PLANTED",
    "level=debug msg=refreshing refresh_token=PLANTED",
    "aws_secret_access_key = PLANTED",
    'response: {"access_token": "PLANTED", "token_type": "bearer"}',
    "map[Authorization:[Bearer PLANTED]]",
    "https://user:PLANTED@proxy:3128 refused",
    "the key is environment-PLANTED, it seems",
    `${"x".repeat(900)} token=${"PLANTED".repeat(100)}`,
  ];
  for (const stderr of samples) {
    const user = { exec: { ...exec, env: [{ name: "MY_API_KEY", value: "environment-PLANTED" }] } };
    const { run } = plugin(() => "", 1, stderr);
    const used = async () => (await load(kubeconfig({}, user), { run }).config).access(signal);
    await assert.rejects(used(), (error: Error) => {
      assert.match(error.message, /failed with exit code 1/);
      assert.ok(!error.message.includes("PLANTED"), error.message);
      return true;
    });
  }
});

test("a plugin that hangs is ended, and one that is not there is told of", async () => {
  const hanging: RunProgram = (_call, limited) =>
    new Promise((_, reject) => limited.addEventListener("abort", () => reject(limited.reason)));
  const { world, config } = load(kubeconfig({}, { exec }), { run: hanging });
  const used = (await config).access(signal).catch((error) => error);
  await world.advance(60_000);
  assert.match((await used).message, /could not be run: .*no answer within 60000 ms/);

  const missing = load(kubeconfig({}, { exec: { ...exec, command: "./not-there" } }), { run: runProgram });
  await assert.rejects((await missing.config).access(signal), /credential plugin \/etc\/k\/not-there .*could not be run: ENOENT/);
});

test("a real program's output, errors and exit code are passed on", async () => {
  const script = "console.log(process.env.WHO); console.error('oops'); process.exit(4)";
  const call = { command: process.execPath, args: ["-e", script], environment: { WHO: "me" } };
  assert.deepEqual(await runProgram(call, signal), { exitCode: 4, stdout: "me\n", stderr: "oops\n" });
});

test("of what a program prints without end, whole lines are kept: the rest of one may be the rest of a secret", async () => {
  const stderrOf = async (script: string) => {
    const call = { command: process.execPath, args: ["-e", script], environment: {} };
    return (await runProgram(call, signal)).stderr;
  };
  const secret = 'process.stderr.write("token=" + "PLANTED".repeat(2000), () => process.stderr.write("PLANTED"))';
  assert.equal(await stderrOf(secret), "");
  assert.equal(await stderrOf(secret.replace(/"PLANTED"\)\)$/, '"\\nwhy it failed"))')), "why it failed");
});
