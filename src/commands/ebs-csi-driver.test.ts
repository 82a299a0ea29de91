import assert from "node:assert/strict";
import { test } from "node:test";
import { sourcesOf } from "./ebs-csi-driver/validate.ts";
import { run } from "./ebs-csi-driver.ts";
import { said } from "./testing/said.ts";

for (const [what, argv, text] of [
  [
    "both limits",
    ["node", "--volume-attach-limit=3", "--reserved-volume-attachments=2"],
    "only one of --volume-attach-limit and --reserved-volume-attachments may be specified",
  ],
  [
    "a certificate without an endpoint",
    ["--metrics-cert-file=a", "--metrics-key-file=b"],
    "--http-endpoint MUST be specified when using the metrics server with HTTPS",
  ],
  [
    "a certificate without its key",
    ["--http-endpoint=:1", "--metrics-cert-file=a"],
    "--metrics-key-file MUST be specified when using the metrics server with HTTPS",
  ],
  [
    "a key without its certificate",
    ["--http-endpoint=:1", "--metrics-key-file=a"],
    "--metrics-cert-file MUST be specified when using the metrics server with HTTPS",
  ],
  ["an unknown source", ["node", "--metadata-sources=imds,oracle"], "included invalid option 'oracle'"],
  ["an empty source", ["node", "--metadata-sources=imds,"], "included invalid option ''"],
  ["a reserved tag", ["controller", "--extra-tags=kubernetes.io/x=y"], "invalid extra tags: tag key prefix 'kubernetes.io' is reserved"],
  ["a window of no time", ["controller", "--modify-volume-request-handler-timeout=0"], "timeout cannot be zero"],
  ["an endpoint of another kind", ["node", "--endpoint=http://x"], "unsupported protocol: http"],
  ["a tag without a value", ["controller", "--extra-tags=a"], "malformed pair"],
  ["a flag of another mode", ["node", "--extra-tags=a=b"], "unknown flag: --extra-tags"],
  ["a flag of the controller's AWS client", ["node", "--user-agent-extra=x"], "unknown flag: --user-agent-extra"],
  ["a flag of the node's for the labeller", ["metadataLabeler", "--legacy-xfs"], "unknown flag: --legacy-xfs"],
  ["labels of volumes without roles", ["controller", "--volume-labels"], "--volume-labels needs --built-in-roles"],
  [
    "a webhook without what it is for",
    ["controller", "--built-in-roles", "--k8s-tag-cluster-id=a", "--webhook-secret=b"],
    "without --volume-labels there is no webhook for --webhook-secret",
  ],
  ["an unknown mode", ["contoller"], 'Unknown driver mode "contoller"; did you mean controller?'],
] as const) {
  test(`a command line with ${what} is refused, and says why`, async () => {
    const { status, err } = await said(run, argv);
    assert.equal(status, 2, err);
    assert.ok(err.includes(text), err);
  });
}

test("metadata sources are taken in any case and with spaces, in the order in which they are given", () => {
  assert.deepEqual(sourcesOf({ "metadata-sources": [" Kubernetes", "IMDS "] }), ["kubernetes", "imds"]);
  assert.deepEqual(sourcesOf({ "metadata-sources": ["metadata-labeler", "kubernetes"] }), ["metadata-labeler", "kubernetes"]);
});

test("--version prints JSON and needs nothing", async () => {
  const { status, out } = await said(run, ["controller", "--version"]);
  assert.equal(status, 0);
  assert.deepEqual(Object.keys(JSON.parse(out)), ["driverVersion", "gitCommit", "buildDate", "goVersion", "compiler", "platform"]);
});

test("the labeller takes the flags of the AWS client", async () => {
  const { status, out } = await said(run, ["metadataLabeler", "--user-agent-extra=x", "--aws-sdk-debug-log", "--help"]);
  assert.equal(status, 0);
  assert.ok(out.includes("--user-agent-extra") && !out.includes("--extra-tags"));
});

test("each mode helps with its own flags", async () => {
  const node = await said(run, ["node", "--help"]);
  assert.ok(node.out.includes("--legacy-xfs") && !node.out.includes("--extra-tags"));
  const controller = await said(run, ["controller", "--help"]);
  assert.ok(!controller.out.includes("--legacy-xfs") && controller.out.includes("--extra-tags"));
});
