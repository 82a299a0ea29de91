import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCidr } from "../../runtime/ip.ts";
import { parseOptions } from "./flags.ts";
import { clusterCidrs, optionWarnings, routesSkipped, validateOptions } from "./validate.ts";

const options = (...argv: string[]) => parseOptions(argv).values;
const aws = (...argv: string[]) => options("--cloud-provider=aws", ...argv);

test("a bare --cloud-provider=aws is valid: routes are skipped with a reason, not a crash", () => {
  validateOptions(aws());
  assert.match(routesSkipped(aws()) ?? "", /--cluster-cidr is empty/);
  assert.match(routesSkipped(aws("--configure-cloud-routes=false")) ?? "", /--configure-cloud-routes: false/);
  assert.equal(routesSkipped(aws("--cluster-cidr=10.0.0.0/16")), undefined);
});

test("all problems are reported together, in the reference's order, each once", () => {
  const given = options(
    "--leader-elect-resource-lock=x",
    "--controllers=x,-y,x",
    "--secure-port=70000",
    "--webhooks=x",
    "--webhook-secure-port=70000",
    "--concurrent-node-lifecycle-syncs=0",
    "--requestheader-username-headers=a,",
  );
  assert.throws(() => validateOptions(given), {
    message: `[${[
      'resourceLock value must be "leases"',
      '"x" is not in the list of known controllers',
      '"y" is not in the list of known controllers',
      "concurrent-node-lifecycle-syncs must be at least 1, but got 0",
      "--secure-port 70000 must be between 0 and 65535, inclusive. 0 for turning off secure port",
      'empty value in "requestheader-username-headers"',
      '"x" is not in the list of known webhooks',
      "--webhook-secure-port 70000 must be between 0 and 65535, inclusive. A value of 0 disables the webhook endpoint entirely.",
      "--webhook-secure-port cannot be the same value as --secure-port",
      "--cloud-provider cannot be empty",
    ].join(", ")}]`,
  });
});

const refusals: [string[], string][] = [
  [["--cloud-provider="], "--cloud-provider cannot be empty"],
  [["--cloud-provider=foo"], "unknown cloud provider foo, only 'aws' is supported"],
  [["--cloud-provider=aws/v2"], "unknown cloud provider aws/v2, only 'aws' is supported"],
  [["--cloud-provider=external"], "unknown cloud provider external, only 'aws' is supported"],
  [["--leader-elect-resource-lock=endpoints"], 'resourceLock value must be "leases"'],
  [["--leader-elect-resource-name="], "--leader-elect-resource-name cannot be empty"],
  [["--leader-elect-lease-duration=10s"], "leaseDuration must be greater than renewDeadline"],
  [["--leader-elect-renew-deadline=2s"], "renewDeadline must be greater than retryPeriod*JitterFactor"],
  [["--concurrent-node-syncs=0"], "concurrent-node-syncs must be a positive number, but got 0"],
  [["--concurrent-service-syncs=-1"], "concurrent-service-syncs must be a positive number, but got -1"],
  [["--concurrent-node-status-updates=-1"], "concurrent-node-status-updates cannot be a negative number, but got -1"],
  [["--node-monitor-period=0"], "node-monitor-period must be greater than zero, but got 0s"],
  [["--route-reconciliation-period=-1s"], "route-reconciliation-period must be greater than zero, but got -1s"],
  [["--controller-start-interval=-1s"], "controller-start-interval cannot be negative, but got -1s"],
  [["--kube-api-burst=0"], "kube-api-burst must be at least 1, but got 0"],
  [["--cluster-cidr=x"], "--cluster-cidr: invalid CIDR[0]: invalid CIDR address: x"],
  [["--cluster-cidr=10.0.0.0/16,"], "--cluster-cidr: invalid CIDR[1]: invalid CIDR address: "],
  [
    ["--cluster-cidr=10.0.0.0/16,10.1.0.0/16"],
    "--cluster-cidr: len of ClusterCIDRs==2 and they are not configured as dual stack (at least one from each IPFamily)",
  ],
  [["--cluster-cidr=10.0.0.0/16,fd00::/48,10.1.0.0/16"], "--cluster-cidr: length of clusterCIDRs is:3 more than max allowed of 2"],
  [["--secure-port=-1"], "--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port"],
  [["--secure-port=10260"], "--webhook-secure-port cannot be the same value as --secure-port"],
  [["--tls-min-version=x"], 'unknown tls version "x"'],
  [["--tls-cipher-suites=x"], "Cipher suite x not supported or doesn't exist"],
  [["--tls-curve-preferences=1"], "curve preference 1 is not supported (known: 23, 24, 25, 29, 4587, 4588, 4589)"],
  [["--tls-cert-file=x"], "--tls-cert-file and --tls-private-key-file must be given together"],
  [["--requestheader-uid-headers=,"], 'empty value in "requestheader-uid-headers"'],
  [["--webhooks=x"], '"x" is not in the list of known webhooks'],
  [["--logging-format=xml"], 'format: Invalid value: "xml": Unsupported log format'],
  [["--log-flush-frequency=0"], 'flushFrequency: Invalid value: "0s": Must be greater than zero'],
  [["--log-text-split-stream"], "options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled"],
  [["--log-text-info-buffer-size=1Ki"], "options.text.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled"],
  [
    ["--controllers=tagging", "--resources=instance"],
    "Tagging controller inputs are not properly set: --tags must not be empty and must be a form of key=value",
  ],
  [["--controllers=tagging", "--tags=a=b"], "Tagging controller inputs are not properly set: --resources must not be empty"],
  [
    ["--controllers=tagging", "--tags=a=b", "--resources=volume"],
    "Tagging controller inputs are not properly set: volume is not a supported resource. Current supported resources [instance]",
  ],
  [
    ["--controllers=tagging", "--tags=a=b", "--resources=instance", "--tagging-controller-concurrent-node-syncs=0"],
    "Tagging controller inputs are not properly set: --tagging-controller-concurrent-node-syncs must be a positive number",
  ],
];

for (const [argv, message] of refusals) {
  test(`${argv.join(" ")} is refused: ${message}`, () => {
    assert.throws(() => validateOptions(aws(...argv)), { name: "OptionsInvalid", message });
  });
}

test("what does not apply is not checked, and is refused where it applies", () => {
  const cases = [
    ["--leader-elect-lease-duration=1s", ["--leader-elect=false"], [], /leaseDuration must be greater/],
    ["--tls-min-version=x", ["--secure-port=0", "--webhook-secure-port=0"], [], /unknown tls version "x"/],
    ["--tagging-controller-rate-limit=-1", ["--tags=a=b"], ["--tags=a=b", "--controllers=tagging"], /rate-limit should not be less/],
    ["--cluster-cidr=x", ["--configure-cloud-routes=false"], [], /invalid CIDR address: x/],
    ["--cluster-cidr=x", ["--controllers=*,-route"], ["--controllers=*"], /invalid CIDR address: x/],
    ["--log-text-split-stream", ["--feature-gates=AllAlpha=true"], [], /LoggingAlphaOptions is disabled/],
  ] as const;
  for (const [flag, unneeded, needed, problem] of cases) {
    const valid = aws(flag, ...unneeded);
    assert.equal(validateOptions(valid), undefined, flag);
    assert.throws(() => validateOptions(aws(flag, ...needed)), problem);
  }
  assert.throws(() => validateOptions(aws("--logging-format=xml")), /Unsupported log format/);
  assert.equal(validateOptions(aws("--logging-format=json")), undefined);
});

test("cluster CIDRs may have blanks around them", () => {
  const given = aws("--cluster-cidr= 10.0.0.0/16 , fd00::/48");
  validateOptions(given);
  assert.deepEqual(clusterCidrs(given).map(formatCidr), ["10.0.0.0/16", "fd00::/48"]);
});

test("header lists without the standard header are warned about", () => {
  assert.deepEqual(optionWarnings(aws()), []);
  assert.deepEqual(optionWarnings(aws("--requestheader-username-headers=x-user", "--requestheader-group-headers=X-REMOTE-GROUP")), [
    "--requestheader-username-headers is set without specifying the standard X-Remote-User header - API aggregation will not work",
  ]);
  assert.equal(optionWarnings(aws("--enable-leader-migration", "--leader-elect=false")).length, 1);
});
