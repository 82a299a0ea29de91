import assert from "node:assert/strict";
import { test } from "node:test";
import { defaults, printValue } from "../../runtime/flags.ts";
import { flagSections, flagTable, parseOptions } from "./flags.ts";

/** The value of every flag of the reference when nobody says anything, as it prints them. */
const reference: Readonly<Record<string, string>> = {
  "allocate-node-cidrs": "false",
  "allow-untagged-cloud": "false",
  "authentication-kubeconfig": "",
  "authentication-skip-lookup": "false",
  "authentication-token-webhook-cache-ttl": "10s",
  "authentication-tolerate-lookup-failure": "false",
  "authorization-always-allow-paths": "[/healthz,/readyz,/livez]",
  "authorization-kubeconfig": "",
  "authorization-webhook-cache-authorized-ttl": "10s",
  "authorization-webhook-cache-unauthorized-ttl": "10s",
  "bind-address": "0.0.0.0",
  "cert-dir": "",
  "cidr-allocator-type": "RangeAllocator",
  "client-ca-file": "",
  "cloud-config": "",
  "cloud-provider": "",
  "cluster-cidr": "",
  "cluster-name": "kubernetes",
  "concurrent-node-lifecycle-syncs": "1",
  "concurrent-node-status-updates": "0",
  "concurrent-node-syncs": "1",
  "concurrent-service-syncs": "1",
  "configure-cloud-routes": "true",
  "contention-profiling": "false",
  "controller-start-interval": "0s",
  controllers: "[*]",
  "disable-http2-serving": "false",
  "enable-leader-migration": "false",
  "external-cloud-volume-plugin": "",
  "feature-gates": "",
  help: "false",
  "http2-max-streams-per-connection": "0",
  "kube-api-burst": "30",
  "kube-api-content-type": "application/vnd.kubernetes.protobuf",
  "kube-api-qps": "20",
  kubeconfig: "",
  "leader-elect": "true",
  "leader-elect-lease-duration": "15s",
  "leader-elect-renew-deadline": "10s",
  "leader-elect-resource-lock": "leases",
  "leader-elect-resource-name": "cloud-controller-manager",
  "leader-elect-resource-namespace": "kube-system",
  "leader-elect-retry-period": "2s",
  "leader-migration-config": "",
  "log-flush-frequency": "5s",
  "log-text-info-buffer-size": "0",
  "log-text-split-stream": "false",
  "logging-format": "text",
  master: "",
  "min-resync-period": "12h0m0s",
  "node-monitor-period": "5s",
  "node-status-update-frequency": "5m0s",
  "node-sync-period": "0s",
  "permit-address-sharing": "false",
  "permit-port-sharing": "false",
  profiling: "true",
  "requestheader-allowed-names": "[]",
  "requestheader-client-ca-file": "",
  "requestheader-extra-headers-prefix": "[x-remote-extra-]",
  "requestheader-group-headers": "[x-remote-group]",
  "requestheader-uid-headers": "[]",
  "requestheader-username-headers": "[x-remote-user]",
  resources: "[]",
  "route-reconciliation-period": "10s",
  "secure-port": "10258",
  "tagging-controller-burst-limit": "0",
  "tagging-controller-concurrent-node-syncs": "1",
  "tagging-controller-enable-batching": "false",
  "tagging-controller-rate-limit": "0",
  tags: "[]",
  "tls-cert-file": "",
  "tls-cipher-suites": "[]",
  "tls-curve-preferences": "[]",
  "tls-min-version": "",
  "tls-private-key-file": "",
  "tls-sni-cert-key": "[]",
  "use-service-account-credentials": "false",
  v: "0",
  version: "false",
  vmodule: "",
  "webhook-bind-address": "0.0.0.0",
  "webhook-cert-dir": "",
  "webhook-disable-http2-serving": "false",
  "webhook-secure-port": "10260",
  "webhook-tls-cert-file": "",
  "webhook-tls-cipher-suites": "[]",
  "webhook-tls-curve-preferences": "[]",
  "webhook-tls-min-version": "",
  "webhook-tls-private-key-file": "",
  "webhook-tls-sni-cert-key": "[]",
  webhooks: "[]",
};

/** Where Fairlead decides unless told; given, they mean what they mean to the reference. */
const decided = [
  "concurrent-node-lifecycle-syncs",
  "concurrent-node-status-updates",
  "concurrent-node-syncs",
  "concurrent-service-syncs",
  "kube-api-burst",
  "kube-api-qps",
  "logging-format",
  "route-reconciliation-period",
  "tagging-controller-concurrent-node-syncs",
];

const ours = ["dry-run", "enable-heap-dumps", "identify-nodes-by-name-tag", "strict-cloud-config"];

test("every flag of the reference is here, with its default, and beside them only ours", () => {
  const values = defaults(flagTable);
  const printed = Object.entries(flagTable).map(([name, declared]) => [name, printValue(declared, values[name as keyof typeof values])]);
  const expected = Object.entries(reference).map(([name, value]) => [name, decided.includes(name) ? "" : value]);
  const own = ours.map((name) => [name, "false"]);
  assert.deepEqual(printed.sort(), [...expected, ...own].sort());
});

test("a flag that Fairlead decides about keeps the reference's value when it is given", () => {
  const { values } = parseOptions(decided.map((name) => `--${name}=${reference[name]}`));
  for (const name of decided) {
    const declared = flagTable[name as keyof typeof flagTable];
    assert.equal(printValue(declared, values[name as keyof typeof values]), reference[name], name);
    assert.ok(declared.decided, name);
  }
});

test("every flag stands in exactly one section", () => {
  const shown = flagSections.flatMap(({ flags }) => Object.keys(flags));
  assert.deepEqual(shown.toSorted(), Object.keys(flagTable).sort());
});

test("command lines of known deployments are taken", () => {
  const lines = [
    "--v=2 --cloud-provider=aws --use-service-account-credentials=true --configure-cloud-routes=false",
    "--v=2 --cloud-provider=aws",
    "--leader-elect-lease-duration=137s --leader-elect-renew-deadline=107s --leader-elect-retry-period=26s",
    "--allocate-node-cidrs=true --cluster-cidr=100.96.0.0/11 --cluster-name=x.k8s.local --leader-elect=true --controllers=*,tagging --tags=a=b,c=d --resources=instance",
  ];
  for (const line of lines) assert.deepEqual(parseOptions(line.split(" ")).args, []);
});
