import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { readCloudConfig } from "./cloud-config.ts";
import { globalKeys, overrideKeys } from "./cloud-config-keys.ts";

const read = (text: string) => readCloudConfig(Buffer.from(text));
const global = (...lines: string[]) => read(`[Global]\n${lines.join("\n")}\n`);

test("the documented example is read whole", () => {
  const { config, warnings } = read(`
[Global]
Region = us-east-1
VPC = vpc-0abc
SubnetID = subnet-0abc
KubernetesClusterID = prod
NodeIPFamilies = ipv6
NodeIPFamilies = ipv4
[ServiceOverride "1"]
Service = EC2
Region = us-east-1
URL = https://vpce-0123.ec2.us-east-1.vpce.amazonaws.com
SigningRegion = us-east-1
`);
  assert.deepEqual(warnings, []);
  assert.equal(config.aws.region, "us-east-1");
  assert.equal(config.aws.vpc, "vpc-0abc");
  assert.equal(config.aws.subnetId, "subnet-0abc");
  assert.equal(config.aws.clusterId, "prod");
  assert.deepEqual(config.nodes.ipFamilies, ["ipv6", "ipv4"]);
  assert.deepEqual(config.aws.serviceOverrides, [
    {
      id: "1",
      service: "EC2",
      region: "us-east-1",
      url: "https://vpce-0123.ec2.us-east-1.vpce.amazonaws.com",
      signingRegion: "us-east-1",
    },
  ]);
});

test("an empty file is all defaults", () => {
  const { config, warnings } = read("");
  assert.deepEqual(warnings, []);
  assert.deepEqual(config.nodes.ipFamilies, ["ipv4"]);
  assert.deepEqual(config.loadBalancers, {
    disableSecurityGroupIngress: false,
    elbSecurityGroup: undefined,
    publicNetworkAllowList: [],
    healthProbeMode: "ServiceNodePort",
    sharedHealthProbePort: 10256,
    sharedHealthProbePath: "/healthz",
    nlbSecurityGroupMode: undefined,
  });
  for (const type of ["p4d.24xlarge", "trn1.32xlarge", "hpc7g.4xlarge", "p6-b200.48xlarge"]) {
    assert.ok(config.nodes.topologyInstanceTypes.test(type), type);
  }
  assert.ok(!config.nodes.topologyInstanceTypes.test("m5.large"));
});

test("section and key names are case-insensitive, a section may appear twice, the last scalar wins", () => {
  const { config, warnings } = read("[global]\nREGION = a\nvpc = v\n[GLOBAL]\nregion = b\n");
  assert.deepEqual(warnings, []);
  assert.equal(config.aws.region, "b");
  assert.equal(config.aws.vpc, "v");
});

test("every key of [Global] arrives where it belongs", () => {
  const { config, warnings } = global(
    "Zone = us-west-2-lax-1a",
    "Region = us-east-1",
    "RouteTableID = rtb-1",
    "RoleARN = arn:aws:iam::123456789012:role/x",
    "SourceARN = arn:aws:eks:us-east-1:123456789012:cluster/x",
    "KubernetesClusterTag = c",
    "KubernetesClusterID = c",
    "SupportedTopologyInstanceTypePattern = (?i)^G",
    "DisableSecurityGroupIngress",
    "ElbSecurityGroup = sg-1",
    "PublicNetworkAllowList = 198.51.100.0/24, 203.0.113.0/24",
    "ClusterServiceLoadBalancerHealthProbeMode = Shared",
    "ClusterServiceSharedLoadBalancerHealthProbePort = 0x100",
    "ClusterServiceSharedLoadBalancerHealthProbePath = /z",
    "NLBSecurityGroupMode = Managed",
  );
  assert.deepEqual(warnings, []);
  assert.equal(config.aws.zone, "us-west-2-lax-1a");
  assert.equal(config.aws.routeTableId, "rtb-1");
  assert.equal(config.aws.roleArn, "arn:aws:iam::123456789012:role/x");
  assert.equal(config.aws.sourceArn, "arn:aws:eks:us-east-1:123456789012:cluster/x");
  assert.equal(config.aws.clusterTag, "c");
  assert.ok(config.nodes.topologyInstanceTypes.test("g5.large"));
  assert.deepEqual(config.loadBalancers, {
    disableSecurityGroupIngress: true,
    elbSecurityGroup: "sg-1",
    publicNetworkAllowList: ["198.51.100.0/24", "203.0.113.0/24"],
    healthProbeMode: "Shared",
    sharedHealthProbePort: 256,
    sharedHealthProbePath: "/z",
    nlbSecurityGroupMode: "Managed",
  });
});

test("address families may be repeated or separated with commas, and a bare key starts over", () => {
  assert.deepEqual(global("NodeIPFamilies = ipv6, ipv4").config.nodes.ipFamilies, ["ipv6", "ipv4"]);
  assert.deepEqual(global("NodeIPFamilies = ipv6", "NodeIPFamilies", "NodeIPFamilies = ipv4").config.nodes.ipFamilies, ["ipv4"]);
});

test("unknown keys and sections are named with their place and the nearest known one", () => {
  const { warnings } = read('[Global]\nsubnet-id = x\nRegoin = y\nfoo = z\n[ServiceOveride "1"]\nURL = q\n[Global "x"]\nRegion = a\n');
  assert.deepEqual(warnings, [
    '2:1: unknown key "subnet-id" in section [Global] is ignored; did you mean SubnetID?',
    '3:1: unknown key "Regoin" in section [Global] is ignored; did you mean Region?',
    '4:1: unknown key "foo" in section [Global] is ignored',
    '5:1: unknown section [ServiceOveride "1"] is ignored; did you mean ServiceOverride?',
    '7:1: unknown section [Global "x"] is ignored: Global takes no subsection',
  ]);
});

test("a source ARN without a role to assume is warned about", () => {
  assert.deepEqual(global("SourceARN = arn:aws:eks:us-east-1:123456789012:cluster/x").warnings, [
    "SourceARN has no effect without RoleARN",
  ]);
});

const override = (...lines: string[]) => read(`[ServiceOverride "1"]\n${lines.join("\n")}\n`);
const complete = ["Service = EC2 ", "Region = r", "URL = http://x", "SigningRegion = r"];

test("an override for a service nobody calls is warned about; legacy names in any case are not", () => {
  assert.equal(override("Service = s3", ...complete.slice(1)).warnings.length, 1);
  assert.deepEqual(override("Service = elasticloadbalancing", ...complete.slice(1), "SigningMethod = v4", "SigningName = x").warnings, []);
});

const refusals: [string, string][] = [
  ["[Global]\nRegion us-east-1\n", "unable to read AWS cloud provider config file: 2:8: expected '='"],
  [
    "[Global]\nRegion\n",
    'unable to read AWS cloud provider config file: 2:1: blank value not supported for type string at section "Global", variable "Region"',
  ],
  [
    "[Global]\nDisableSecurityGroupIngress = maybe\n",
    'unable to read AWS cloud provider config file: 2:1: failed to parse bool `maybe` at section "Global", variable "DisableSecurityGroupIngress"',
  ],
  [
    "[Global]\nClusterServiceSharedLoadBalancerHealthProbePort = x\n",
    'unable to read AWS cloud provider config file: 2:1: failed to parse "x" as int32: expected integer at section "Global", variable "ClusterServiceSharedLoadBalancerHealthProbePort"',
  ],
  [
    "[Global]\nClusterServiceSharedLoadBalancerHealthProbePort = 70000\n",
    'unable to read AWS cloud provider config file: 2:1: 70000 is not a port: must be between 0 and 65535, 0 for the default at section "Global", variable "ClusterServiceSharedLoadBalancerHealthProbePort"',
  ],
  [
    "[Global]\nClusterServiceLoadBalancerHealthProbeMode = shared\n",
    'unable to read AWS cloud provider config file: 2:1: invalid value "shared": must be one of ServiceNodePort, Shared at section "Global", variable "ClusterServiceLoadBalancerHealthProbeMode"',
  ],
  [
    "[Global]\nNLBSecurityGroupMode = managed\n",
    'unable to read AWS cloud provider config file: 2:1: invalid NLB security group mode: "managed". Expected: "Managed" at section "Global", variable "NLBSecurityGroupMode"',
  ],
  [
    "[Global]\nZone = some-fake-zone\n",
    'unable to read AWS cloud provider config file: 2:1: invalid AZ: some-fake-zone at section "Global", variable "Zone"',
  ],
  [
    '[ServiceOverride "a"]\nRegion\n',
    'unable to read AWS cloud provider config file: 2:1: blank value not supported for type string at section "ServiceOverride", subsection "a", variable "Region"',
  ],
  ["[Global]\nRoleARN = x\n", 'RoleARN "x" is not an ARN (arn: invalid prefix)'],
  ["[Global]\nKubernetesClusterTag = a\nKubernetesClusterID = b\n", 'clusterID tags did not match: "b" vs "a"'],
  ['[ServiceOverride "1"]\n', 'unable to validate custom endpoint overrides: service name is missing [Service is ""] in override 1'],
  [
    '[ServiceOverride "1"]\nService=EC2\n',
    'unable to validate custom endpoint overrides: service region is missing [Region is ""] in override 1',
  ],
  ["[ServiceOverride]\nService=EC2\nRegion=a\n", 'unable to validate custom endpoint overrides: url is missing [URL is ""] in override '],
  [
    '[ServiceOverride "1"]\nService=EC2\nRegion=a\nURL=http://x\n',
    'unable to validate custom endpoint overrides: signingRegion is missing [SigningRegion is ""] in override 1',
  ],
];

for (const [file, message] of refusals) {
  test(`a file like ${JSON.stringify(file)} is refused`, () => {
    assert.throws(() => read(file), { name: "CloudConfigInvalid", message });
  });
}

test("an invalid topology pattern is refused at startup, by name and value", () => {
  assert.throws(() => global("SupportedTopologyInstanceTypePattern = ("), {
    message: /2:1: "\(" is not a regular expression: .*variable "SupportedTopologyInstanceTypePattern"/,
  });
});

test("the same service twice in one region is refused, in two regions it is not", () => {
  const twice = (region: string) =>
    read(`[ServiceOverride "1"]\n${complete.join("\n")}\n[ServiceOverride "2"]\n${complete.join("\n")}\nRegion=${region}\n`);
  assert.equal(twice("other").config.aws.serviceOverrides.length, 2);
  assert.throws(() => twice("r"), {
    message: "unable to validate custom endpoint overrides: duplicate entry found for service override [2] (EC2 in r)",
  });
});

test("what the reference starts with starts here too, with a warning", () => {
  const families = read("[Global]\nNodeIPFamilies = ipv5, ipv6\n");
  assert.deepEqual(families.config.nodes.ipFamilies, ["ipv6"]);
  assert.deepEqual(families.warnings, ['2:1: NodeIPFamilies ignores "ipv5": must be ipv4 or ipv6']);
  const legacy = ["Service=ec2", ...complete.slice(1)];
  const both = read(`[ServiceOverride "1"]\n${complete.join("\n")}\n[ServiceOverride "2"]\n${legacy.join("\n")}\n`);
  assert.equal(both.config.aws.serviceOverrides.length, 2);
  assert.deepEqual(both.warnings, [
    'service override 2: Service "ec2" is the service of override 1 too, by another name; it has no effect',
  ]);
});

test("a topology pattern means what it means in Go", () => {
  for (const [pattern, type, matches] of [
    ["(?i)P5", "p5.48xlarge", true],
    [String.raw`\\Ap5\\.`, "p5.48xlarge", true],
    [String.raw`\\A5\\.`, "p5.48xlarge", false],
    [String.raw`xlarge\\z`, "p5.48xlarge", true],
    ["^(?P<family>p|trn)[0-9]", "p5.48xlarge", true],
    ["^[[:alpha:]]+[[:digit:]]", "p5.48xlarge", true],
    [String.raw`^\\Qp5.\\E`, "p5x48xlarge", false],
    [String.raw`^(\\\\Q|p5\\.)`, "p5.48xlarge", true],
    ["^p5[[:punct:]]4", "p5.48xlarge", true],
    ["^p5[^[:space:]]4[[:xdigit:]]", "p5.48xlarge", true],
    ["^[[:graph:]]+$", "p5.48xlarge", true],
  ] as const) {
    const { topologyInstanceTypes } = global(`SupportedTopologyInstanceTypePattern = "${pattern}"`).config.nodes;
    assert.equal(topologyInstanceTypes.test(type), matches, pattern);
  }
});

/** What such files are made of, and what breaks readers of them. */
const pieces = [
  ...[
    "[Global]\n",
    "[global]\n",
    '[ServiceOverride "1"]\n',
    '[ServiceOverride "2"]\n',
    "[ServiceOverride]\n",
    "[Other]\n",
    '[Global "x"]\n',
    '[a ""]\n',
    "[",
  ],
  ...Object.keys(globalKeys).map((name) => `${name} = `),
  ...Object.keys(overrideKeys).map((name) => `${name}=`),
  ...[
    "true\n",
    "no\n",
    "ipv4\n",
    "ipv4,ipv6\n",
    "us-west-2a\n",
    "10256\n",
    "0x10\n",
    "-1\n",
    "99999999999\n",
    "Shared\n",
    "Managed\n",
    "(\n",
    "[a-z]+\n",
  ],
  ...["EC2\n", "ec2\n", "ec2imds\n", "https://x\n", "arn:aws:iam::1:role/x\n", "constructor = x\n", "__proto__ = x\n", "valueOf\n"],
  ...["\n", "\r\n", " ", "\t", '"', "\\", "\\\n", '"a;b"', "; c\n", "# c\n", "=", "\0", "\ufeff", "\u00e9", "x", '\\"'],
];

test("any file is read to something that makes sense, or refused with a place and a reason", () => {
  const { random } = virtualWorld(3);
  const tally = { read: 0, refused: 0 };
  for (let i = 0; i < 20_000; i++) {
    const length = Math.floor(random.number() * 12);
    const file = Array.from({ length }, () => pieces[Math.floor(random.number() * pieces.length)]!).join("");
    try {
      const { config } = read(file);
      const { ipFamilies, topologyInstanceTypes } = config.nodes;
      assert.ok(ipFamilies.length > 0 && ipFamilies.every((family) => family === "ipv4" || family === "ipv6"), JSON.stringify(file));
      assert.ok(topologyInstanceTypes instanceof RegExp);
      const { sharedHealthProbePort: port, healthProbeMode, nlbSecurityGroupMode } = config.loadBalancers;
      assert.ok(Number.isInteger(port) && port > 0 && port <= 65_535, JSON.stringify(file));
      assert.ok(["ServiceNodePort", "Shared"].includes(healthProbeMode) && [undefined, "Managed"].includes(nlbSecurityGroupMode));
      for (const value of Object.values(config.aws))
        assert.ok(value === undefined || value.length > 0 || Array.isArray(value), JSON.stringify(file));
      tally.read++;
    } catch (error) {
      assert.equal((error as Error).name, "CloudConfigInvalid", `${JSON.stringify(file)}: ${error}`);
      tally.refused++;
    }
  }
  assert.ok(tally.read > 1_000 && tally.refused > 1_000, JSON.stringify(tally));
});

test("lines that nobody knows change nothing but warnings", () => {
  const { random } = virtualWorld(4);
  const lines = ["[Global]", "Region = us-east-1", "NodeIPFamilies = ipv6", '[ServiceOverride "1"]', ...complete];
  const plain = read(lines.join("\n")).config;
  for (let i = 0; i < 500; i++) {
    const at = 1 + Math.floor(random.number() * lines.length);
    const noise = ["# comment", "; comment", "", "  ", "Unknown = x", "constructor = 1", "toString", "Unknown-key"][
      Math.floor(random.number() * 8)
    ]!;
    assert.deepEqual(read(lines.toSpliced(at, 0, noise).join("\n")).config, plain, noise);
  }
});
