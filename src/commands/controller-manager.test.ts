import assert from "node:assert/strict";
import { test } from "node:test";
import { flagSections, flagTable } from "./controller-manager/flags.ts";
import { run } from "./controller-manager.ts";
import { said } from "./testing/said.ts";

const call = (...argv: string[]) => said(run, argv);

const syntax = (call: string) => (text: string) => `strconv.${call}: parsing "${text}": invalid syntax`;
const pair = (text: string) => `${text} must be formatted as key=value`;
/** A value that flags of a kind cannot take, and why. */
const badByType: Readonly<Record<string, readonly [string, (text: string) => string]>> = {
  "": ["maybe", syntax("ParseBool")],
  version: ["maybe", syntax("ParseBool")],
  int: ["many", syntax("ParseInt")],
  int32: ["3000000000", (text) => `strconv.ParseInt: parsing "${text}": value out of range`],
  int32Slice: ["x", syntax("ParseInt")],
  float: ["fast", syntax("ParseFloat")],
  float32: ["fast", syntax("ParseFloat")],
  Level: ["-1", syntax("ParseUint")],
  duration: ["5", (text) => `time: missing unit in duration "${text}"`],
  ip: ["localhost", (text) => `failed to parse IP: "${text}"`],
  strings: ["a'b\"", () => 'parse error on line 1, column 4: bare " in non-quoted-field'],
  stringToString: ["x", pair],
  mapStringBool: ["X=true", () => "unrecognized feature gate: X"],
  namedCertKey: ["x", () => "expected comma separated certificate and key file paths"],
  quantity: ["x", () => "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
  "pattern=N,...": ["x", () => '"x" does not have the pattern=N format'],
};

/** Flags that take any text: what is wrong is only seen when all flags are known. */
const badText: Readonly<Record<string, readonly [string[], RegExp]>> = {
  "cloud-provider": [["--cloud-provider=foo"], /^unknown cloud provider foo, only 'aws' is supported$/],
  "cluster-cidr": [["--cluster-cidr=x"], /^--cluster-cidr: invalid CIDR\[0\]: invalid CIDR address: x$/],
  "leader-elect-resource-lock": [["--leader-elect-resource-lock=endpoints"], /^resourceLock value must be "leases"$/],
  "leader-elect-resource-name": [["--leader-elect-resource-name="], /^--leader-elect-resource-name cannot be empty$/],
  "leader-elect-resource-namespace": [["--leader-elect-resource-namespace="], /^--leader-elect-resource-namespace cannot be empty$/],
  "logging-format": [["--logging-format=xml"], /^format: Invalid value: "xml": Unsupported log format$/],
  "tls-cert-file": [["--tls-cert-file=/x"], /^--tls-cert-file and --tls-private-key-file must be given together$/],
  "tls-private-key-file": [["--tls-private-key-file=/x"], /^--tls-cert-file and --tls-private-key-file must be given together$/],
  "tls-min-version": [["--tls-min-version=x"], /^unknown tls version "x"$/],
  resources: [
    ["--controllers=tagging", "--tags=a=b", "--resources=volume"],
    /^Tagging controller inputs are not properly set: volume is not a supported resource\. Current supported resources \[instance\]$/,
  ],
  kubeconfig: [["--kubeconfig=/nonexistent/kubeconfig"], /\/nonexistent\/kubeconfig.*ENOENT/],
  master: [["--master=ftp://x"], /^--master is not an http or https URL$/],
};

/** Any text will do, or the text has no effect: all that can be wrong is that it is missing. */
const anyText = [
  "authentication-kubeconfig",
  "authorization-kubeconfig",
  "cert-dir",
  "cidr-allocator-type",
  "client-ca-file",
  "cloud-config",
  "cluster-name",
  "external-cloud-volume-plugin",
  "kube-api-content-type",
  "leader-migration-config",
  "requestheader-client-ca-file",
  "webhook-cert-dir",
  "webhook-tls-cert-file",
  "webhook-tls-min-version",
  "webhook-tls-private-key-file",
];

for (const [name, declared] of Object.entries(flagTable)) {
  const { type } = declared.kind;
  const shown = "shorthand" in declared && declared.shorthand ? `-${declared.shorthand}, --${name}` : `--${name}`;
  test(`a bad value for --${name} is refused with a message, the usage and status 255`, async () => {
    const [argv, message] = badCall(name, type, shown);
    const { status, err, out } = await call(...argv);
    assert.equal(status, 255);
    assert.equal(out, "");
    const said = /^Error: (.*)$/m.exec(err)?.[1] ?? "";
    if (typeof message === "string") assert.equal(said, message);
    else assert.match(said, message);
    assert.ok(err.includes("\nUsage:\n  cloud-controller-manager [flags]\n"));
    assert.ok(err.endsWith(`\nunable to execute command: ${said}\n`), err.slice(-300));
  });
}

function badCall(name: string, type: string, shown: string): [string[], string | RegExp] {
  const text = badText[name];
  if (text) return [["--cloud-provider=aws", ...text[0]], text[1]];
  if (anyText.includes(name)) return [[`--${name}`], `flag needs an argument: --${name}`];
  const [value, reason] = badByType[type] ?? assert.fail(`no bad value is known for --${name} of type ${type}`);
  return [[`--${name}=${value}`], `invalid argument ${JSON.stringify(value)} for "${shown}" flag: ${reason(value)}`];
}

test("help shows the sections in order on stdout, and every flag but the deprecated ones", async () => {
  const { status, out, err } = await call("--help");
  assert.equal(status, 0);
  assert.equal(err, "");
  const titles = [...out.matchAll(/^(.*) flags:$/gm)].map(([, title]) => title);
  assert.deepEqual(
    titles,
    flagSections.map(({ title }) => title),
  );
  const shown = [...out.matchAll(/^ {2}(?: {4}|-\w, )--([a-z0-9-]+)/gm)].map(([, name]) => name);
  const hidden = ["allow-untagged-cloud", "node-sync-period"];
  assert.deepEqual(
    shown.toSorted(),
    Object.keys(flagTable)
      .filter((name) => !hidden.includes(name))
      .sort(),
  );
});

test("flags that Fairlead decides about say so in help", async () => {
  const { out } = await call("--help");
  for (const name of [
    "concurrent-node-syncs",
    "concurrent-service-syncs",
    "concurrent-node-lifecycle-syncs",
    "concurrent-node-status-updates",
  ]) {
    assert.match(out, new RegExp(`--${name} int32 .*\\(default Fairlead decides\\)$`, "m"));
  }
  assert.match(out, /--kube-api-qps float32 .*\(default no client-side limit/);
  assert.match(out, /--kube-api-burst int32 .*\(default no client-side limit/);
  assert.match(out, /--route-reconciliation-period duration .*\(default Fairlead decides/);
  assert.match(out, /--logging-format string .*\(default text on a terminal, else json\)/);
});

test("the version is printed as Kubernetes programs do, and can be overridden", async () => {
  assert.match((await call("--version")).out, /^Kubernetes v\d+\.\d+\.\d+\n$/);
  assert.equal((await call("--version=v9.8.7", "--version")).out, "Kubernetes v9.8.7\n");
  assert.match((await call("--version=raw")).out, /^version\.Info\{Major:"\d+", Minor:"\d+", .*Platform:"\w+\/\w+"\}\n$/);
  assert.match((await call("--version=v1.2")).err, /invalid argument "v1.2" for "--version" flag: illegal version string "v1.2"/);
});

test("arguments are refused", async () => {
  const { status, err } = await call("x", "", "y");
  assert.equal(status, 255);
  assert.match(err, /^Error: "cloud-controller-manager" does not take any arguments, got \["x" "" "y"\]$/m);
});

test("no flags at all: the provider is missed", async () => {
  const { status, err } = await call();
  assert.equal(status, 255);
  assert.match(err, /^Error: --cloud-provider cannot be empty$/m);
});

test("historic flags are unknown, and a typo is helped along", async () => {
  for (const name of ["logtostderr", "alsologtostderr", "log-dir", "port", "address"]) {
    assert.match((await call(`--${name}=x`)).err, new RegExp(`^Error: unknown flag: --${name}$`, "m"));
  }
  assert.match((await call("--leader-elct")).err, /did you mean --leader-elect\?\n$/);
});

test("at -v=1 every effective flag is logged", async () => {
  const { err } = await call("-v=1", "--controllers=cloud-node,x");
  const lines = err.split("\n").filter((line) => line.startsWith("{"));
  const flags = lines.map((line) => JSON.parse(line).msg).filter((message) => message.startsWith("FLAG: "));
  assert.equal(flags.length, Object.keys(flagTable).length);
  assert.ok(flags.includes('FLAG: --controllers="[cloud-node,x]"'));
  assert.ok(flags.includes('FLAG: --leader-elect-lease-duration="15s"'));
  assert.doesNotMatch((await call("--controllers=x")).err, /FLAG:/);
});

test("deprecated flags are warned about on stderr", async () => {
  const { err } = await call("--node-sync-period=1s");
  assert.match(err, /^Flag --node-sync-period has been deprecated, /);
});
