import assert from "node:assert/strict";
import { test } from "node:test";
import { stringify } from "yaml";
import { artifacts } from "./artifacts.ts";
import { ArtifactsInputInvalid, readArtifactsInput } from "./input.ts";
import { storageClassesOf, storageClassObjects } from "./storage-classes.ts";
import { exampleFile, exampleInput } from "./testing.ts";

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Record<string, string>; readonly annotations?: Record<string, string> };
  readonly data: Record<string, string>;
  readonly parameters: Record<string, string>;
}

const rendered = (change: object = {}) => artifacts(exampleInput(change)) as readonly Rendered[];
const decoded = (text = "") => Buffer.from(text, "base64").toString();

test("registration: two Secrets with the same data, exact labels, and the account as readers expect it", () => {
  const [one, two, ...more] = rendered().filter(({ metadata }) => metadata.name.startsWith("d8-node-manager-cloud-provider"));
  assert.deepEqual(
    [one?.metadata.name, two?.metadata.name, more],
    ["d8-node-manager-cloud-provider", "d8-node-manager-cloud-provider-aws", []],
  );
  assert.deepEqual(one?.data, two?.data);
  assert.deepEqual(one?.metadata.labels, {
    heritage: "deckhouse",
    module: "cloud-provider-aws",
    "cloud-provider.deckhouse.io/registration": "",
    "cloud-provider.deckhouse.io/name": "aws",
  });
  const read = Object.fromEntries(Object.entries(one!.data).map(([key, value]) => [key, decoded(value)]));
  assert.deepEqual(Object.keys(read), [
    "type",
    "region",
    "zones",
    "instanceClassAPIVersion",
    "instanceClassKind",
    "machineClassKind",
    "aws",
  ]);
  assert.deepEqual([read.type, read.region, read.zones], ["aws", "eu-central-1", '["eu-central-1a"]']);
  assert.equal(
    read.aws,
    '{"instances":{"additionalSecurityGroups":["sg-base"],"ami":"ami-default","associatePublicIPAddress":true,"iamProfileName":"demo-node"},' +
      '"internal":{"zoneToSubnetIdMap":{"eu-central-1a":"subnet-aaa"}},"keyName":"demo","loadBalancerSecurityGroup":"sg-0d",' +
      '"providerAccessKeyId":"AKIAIOSFODNN7EXAMPLE","providerSecretAccessKey":"of-no-worth","region":"eu-central-1","tags":{"env":"prod"}}',
  );
});

test("templates: one Secret with three keys, none of them empty, in the dialect of the node manager", () => {
  const found = rendered().find(({ metadata }) => metadata.name === "d8-cloud-provider-aws-mcm")!;
  assert.equal(found.metadata.labels["cloud-provider.deckhouse.io/ephemeral-nodes-templates"], "mcm");
  assert.ok(!("cloud-provider.deckhouse.io/registration" in found.metadata.labels));
  assert.deepEqual(Object.keys(found.data), ["machine-class.yaml", "machine-class.checksum", "config-for-machine-controller-manager.yaml"]);
  for (const text of Object.values(found.data).map(decoded)) {
    assert.notEqual(text, "");
    assert.doesNotMatch(text, /\b(env|expandenv|tpl|lookup)\b/);
    for (const [, partial] of text.matchAll(/include "([^"]*)"/g)) assert.equal(partial, "helm_lib_module_labels");
  }
});

test("scripts: two Secrets with the labels and keys that bashible knows, and none when they are switched off", () => {
  const found = (change: object = {}) => rendered(change).filter(({ metadata }) => metadata.name.includes("bashible"));
  assert.deepEqual(
    found().map(({ metadata, data }) => [metadata.name, metadata.labels, Object.keys(data)]),
    [
      [
        "d8-cloud-provider-aws-bashible-steps",
        {
          heritage: "deckhouse",
          module: "cloud-provider-aws",
          "cloud-provider.deckhouse.io/name": "aws",
          "cloud-provider.deckhouse.io/bashible": "steps",
        },
        [
          "000_add_extra_modules.sh.tpl",
          "000_set_cloud_variables.sh.tpl",
          "001_create_nvme_ebs_aliases.sh.tpl",
          "006_install_aws_specific_binaries.sh.tpl",
          "007_enable_ecr_credential_provider.sh.tpl",
        ],
      ],
      [
        "d8-cloud-provider-aws-bashible-bootstrap",
        {
          heritage: "deckhouse",
          module: "cloud-provider-aws",
          "cloud-provider.deckhouse.io/name": "aws",
          "cloud-provider.deckhouse.io/bashible": "bootstrap",
        },
        ["bootstrap-networks.sh.tpl"],
      ],
    ],
  );
  for (const text of found().flatMap(({ data }) => Object.values(data).map(decoded))) {
    assert.notEqual(text, "");
    // What the account's keys are is no business of nodes, and what a template could take for its own is the group alone.
    assert.doesNotMatch(text, /AKIAIOSFODNN7EXAMPLE|of-no-worth/);
    assert.deepEqual(new Set([...text.matchAll(/\{\{.*?\}\}/g)].map(([action]) => action)).size, text.includes("{{") ? 2 : 0);
  }
  assert.deepEqual(found({ bashible: { enabled: false } }), []);
  const sha256 = "0".repeat(64);
  const from = (url: string) => ({ bashible: { credentialProvider: { amd64: { url, sha256 } } } });
  assert.match(
    decoded(found(from("https://files.example.org/a?b=$c"))[0]!.data["006_install_aws_specific_binaries.sh.tpl"]),
    /url='https:\/\/files\.example\.org\/a\?b=\$c' sum='0{64}'/,
  );
  for (const url of ["http://files.example.org/a", "https://a/'; reboot '", "https://a/{{ .x }}", "https://a/\nb"]) {
    assert.throws(() => found(from(url)), /bashible\.credentialProvider\.amd64\.url: must be a URL with https/);
  }
});

test("all problems of both documents are told at once, each with its path", () => {
  const { apiVersion, kind } = exampleFile.discoveryData;
  const discoveryData = {
    apiVersion,
    kind,
    instances: { additionalSecurityGroups: ["group"] },
    loadBalancerSecurityGroup: "lb",
    zones: [],
  };
  const problems = (change: object) => {
    try {
      readArtifactsInput(stringify({ ...exampleFile, ...change }));
      return [];
    } catch (error) {
      assert.ok(error instanceof ArtifactsInputInvalid);
      return error.problems;
    }
  };
  const wrong = problems({ discoveryData });
  for (const path of [
    "keyName",
    "instances.ami",
    "instances.additionalSecurityGroups.0",
    "instances.associatePublicIPAddress",
    "instances.iamProfileName",
    "loadBalancerSecurityGroup",
    "zones",
    "zoneToSubnetIdMap",
  ]) {
    assert.ok(
      wrong.some((line) => line.startsWith(`validate cloud-provider-discovery-data.json: ${path}: `)),
      `${path} in ${wrong.join("\n")}`,
    );
  }
  assert.equal(wrong.length, 8);
  const { layout: _1, provider: _2, masterNodeGroup: _3, sshPublicKey: _4, ...rest } = exampleFile.clusterConfiguration;
  const configuration = problems({ clusterConfiguration: { ...rest, vpcNetworkCIDR: "10.10.0.0/33" } });
  for (const path of ["layout", "provider", "masterNodeGroup", "sshPublicKey", "vpcNetworkCIDR"]) {
    assert.ok(
      configuration.some((line) => line.startsWith(`validate cloud-provider-cluster-configuration.yaml: ${path}: `)),
      path,
    );
  }
  assert.match(problems({ storageClas: {} }).join(), /storageClas/);
  assert.throws(() => readArtifactsInput("a: [b"), ArtifactsInputInvalid);
});

test("storage classes: built-in ones, those that are asked for, without those that are not wanted", () => {
  const names = (provision: readonly object[], exclude: readonly string[]) =>
    storageClassesOf({ provision: provision as never, exclude: [...exclude] }).map(({ name }) => name);
  assert.deepEqual(names([], []), ["gp2", "gp3", "sc1", "st1"]);
  assert.deepEqual(
    names(
      [
        { name: "foo", type: "io1" },
        { name: "bar", type: "gp2" },
      ],
      ["sc\\d+", "bar"],
    ),
    ["foo", "gp2", "gp3", "st1"],
  );
  assert.deepEqual(names([{ name: "gp", type: "gp3" }], []), ["gp", "gp2", "gp3", "sc1", "st1"], "a name is no expression");
  assert.deepEqual(names([], [".*"]), []);
  assert.throws(() => names([], ["("]), /storageClass\.exclude: "\("/);
  const provision = [{ name: "gp3", type: "gp3", iops: "6000", throughput: "300" }];
  const objects = rendered({ storageClass: { provision } }).filter(({ kind }) => kind === "StorageClass");
  assert.deepEqual(objects.find(({ metadata }) => metadata.name === "gp3")?.parameters, { type: "gp3", iops: "6000", throughput: "300" });
});

test("the default is the class that is it already, else the first, unless the user has chosen", () => {
  const marked = (change: object) =>
    rendered(change)
      .filter(({ metadata }) => metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true")
      .map(({ metadata }) => metadata.name);
  assert.deepEqual(marked({}), ["gp2"]);
  assert.deepEqual(marked({ defaultStorageClass: "st1" }), ["st1"]);
  assert.deepEqual(marked({ defaultClusterStorageClass: "sc1" }), []);
});

test("parameters that a type does not take, or beyond its range, are refused by name", () => {
  const rows: readonly (readonly [object, RegExp])[] = [
    [{ type: "gp2", iops: "3000" }, /a: iops is for type gp3, not for gp2/],
    [{ type: "io1", throughput: "125" }, /a: throughput is for type gp3, not for io1/],
    [{ type: "gp3", iopsPerGB: "10" }, /a: iopsPerGB is for type io1 or io2, not for gp3/],
    [{ type: "gp3", iops: "2999" }, /a: iops: 2999 is not between 3000 and 16000/],
    [{ type: "gp3", throughput: "1001" }, /a: throughput: 1001 is not between 125 and 1000/],
  ];
  for (const [more, text] of rows) {
    assert.throws(() => storageClassObjects(exampleInput({ storageClass: { provision: [{ name: "a", ...more }] } })), text);
  }
});

test("a snapshot class only with the snapshot controller; machine classes only for groups that are named", () => {
  const kinds = (change: object) => rendered(change).map(({ kind }) => kind);
  assert.ok(!kinds({}).includes("VolumeSnapshotClass") && kinds({ snapshots: true }).includes("VolumeSnapshotClass"));
  assert.ok(!kinds({}).includes("AWSMachineClass"));
  const nodeGroups = [{ name: "worker", instanceClass: { instanceType: "m5.large" } }];
  assert.equal(kinds({ nodeGroups }).filter((kind) => kind === "AWSMachineClass").length, 1);
  assert.throws(
    () => rendered({ nodeGroups: [{ ...nodeGroups[0], zones: ["eu-central-1z"] }] }),
    /nodeGroups: worker: zone eu-central-1z: no subnet/,
  );
});
