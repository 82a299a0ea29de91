import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../kube/types.ts";
import { hostConfigOf, installationOf } from "./installation.ts";

type Spec = NonNullable<Pod["spec"]>;
const podOf = (container: Partial<Spec["containers"][number]>, volumes: Spec["volumes"] = []): Pod => ({
  metadata: { namespace: "kube-system", name: "manager-0" },
  spec: { containers: [{ name: "sidecar" }, { name: "manager", ...container }], volumes },
});
const args = ["controller-manager", "--cloud-provider=aws", "--cloud-config=/etc/fairlead/cloud.conf"];

test("flags are read in both forms, the last one counts, and an empty one is none", () => {
  const found = installationOf(
    podOf({
      command: ["/bin/ccm", "--cloud-provider=aws", "--cluster-name=old"],
      args: ["--cluster-name", "shop", "--cluster-cidr="],
      env: [{ name: "AWS_REGION", value: "eu-west-1" }],
    }),
  );
  assert.deepEqual(found, {
    pod: "kube-system/manager-0",
    clusterName: "shop",
    clusterCidr: undefined,
    region: "eu-west-1",
    cloudConfig: undefined,
    lease: "kube-system/cloud-controller-manager",
  });
});

test("variables in flags are put in place as Kubernetes does it; one whose value the pod does not show makes the flag unknown", () => {
  const nameBy = (text: string, more: object = {}) =>
    installationOf(podOf({ args: ["--cloud-provider=aws", `--cluster-name=${text}`], env: [{ name: "CLUSTER", value: "shop" }], ...more }))
      ?.clusterName;
  assert.equal(nameBy("$(CLUSTER)-east"), "shop-east");
  assert.equal(nameBy("$$(CLUSTER)"), "$(CLUSTER)");
  assert.equal(nameBy("$(OTHER)"), "$(OTHER)", "Kubernetes leaves it as it is");
  assert.equal(nameBy("$(OTHER)", { envFrom: [{ configMapRef: { name: "settings" } }] }), undefined);
  assert.equal(nameBy("$(CLUSTER)", { env: [{ name: "CLUSTER", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }), undefined);
});

test("a pod without a controller manager of AWS tells nothing", () => {
  assert.equal(installationOf(podOf({ args: ["--cloud-provider=gce"] })), undefined);
});

const path = "/etc/fairlead/cloud.conf";
const volume = (configMap: object) => [{ name: "cloud-config", configMap: { name: "manager", ...configMap } }];
const mount = (mountPath: string, more: object = {}) => [{ name: "cloud-config", mountPath, ...more }];
const key = (name: string) => ({ kind: "config map", path, namespace: "kube-system", name: "manager", key: name });

for (const [what, mounts, volumes, wanted] of [
  ["a folder mounted from a ConfigMap", mount("/etc/fairlead"), volume({}), key("cloud.conf")],
  ["a folder written with a slash at its end", mount("/etc/fairlead/"), volume({}), key("cloud.conf")],
  ["a key under another name", mount("/etc/fairlead"), volume({ items: [{ key: "aws", path: "cloud.conf" }] }), key("aws")],
  ["one file mounted", mount(path, { subPath: "aws.conf" }), volume({}), key("aws.conf")],
  ["keys of which none is the file", mount("/etc/fairlead"), volume({ items: [{ key: "a", path: "b" }] }), { kind: "elsewhere", path }],
  ["a folder of the node", mount("/etc/fairlead"), [{ name: "cloud-config", hostPath: { path: "/etc" } }], { kind: "elsewhere", path }],
  ["a file of the image", [], [], { kind: "elsewhere", path }],
] as const) {
  test(`the cloud config comes from ${what}`, () => {
    assert.deepEqual(installationOf(podOf({ args, volumeMounts: [...mounts] }, [...volumes]))?.cloudConfig, wanted);
  });
}

test("the Lease that a controller manager leads by is read from its flags", () => {
  const lease = (...args: string[]) => installationOf(podOf({ args: ["--cloud-provider=aws", ...args] }))?.lease;
  assert.equal(lease("--leader-elect-resource-name=mine", "--leader-elect-resource-namespace=shop"), "shop/mine");
  assert.equal(lease("--leader-elect=false"), undefined);
});

const host = podOf(
  {
    args: ["cluster", "--config=/etc/fairlead/cluster.yaml", `--cloud-config=${path}`, "--leader-elect-resource-namespace=own"],
    volumeMounts: mount("/etc/fairlead"),
  },
  volume({}),
);

test("a pod of fairlead cluster tells what the controller manager in it is given, by its file and its command line", () => {
  assert.deepEqual(hostConfigOf(host), { ...key("cluster.yaml"), path: "/etc/fairlead/cluster.yaml" });
  const config = "controller-manager: {cluster-name: shop, cluster-cidr: 10.0.0.0/8, leader-elect-resource-name: ccm}";
  assert.deepEqual(installationOf(host, config), {
    pod: "kube-system/manager-0",
    clusterName: "shop",
    clusterCidr: "10.0.0.0/8",
    region: undefined,
    cloudConfig: key("cloud.conf"),
    lease: "kube-system/ccm",
    hostLease: "own/fairlead-cluster",
  });
  assert.equal(installationOf(host, "process: {leader-elect: false}\ncontroller-manager:")?.hostLease, undefined);
  assert.equal(installationOf(host, "process: {leader-elect: false}\ncontroller-manager:")?.lease, undefined);
});

test("a pod of fairlead cluster whose file cannot be read tells what its command line says; one without a controller manager nothing", () => {
  for (const config of [undefined, "a: [", "nobody: {}"]) {
    const found = installationOf(host, config);
    assert.deepEqual([found?.lease, found?.cloudConfig], ["kube-system/cloud-controller-manager", key("cloud.conf")]);
  }
  assert.equal(installationOf(host, "process: {v: 2}"), undefined);
  assert.equal(hostConfigOf(podOf({ args })), undefined);
});

test("the one process for all programs is an installation too, with its cloud config and the controller manager's Lease", () => {
  const volumes = [{ name: "config", configMap: { name: "fairlead-cluster" } }];
  const volumeMounts = [{ name: "config", mountPath: "/etc/fairlead" }];
  const words = ["cluster", "--config=/etc/fairlead/cluster.yaml", "--cloud-config=/etc/fairlead/cloud.conf"];
  const found = installationOf(podOf({ args: words, volumeMounts }, volumes));
  assert.equal(found?.lease, "kube-system/cloud-controller-manager");
  assert.deepEqual(found.cloudConfig, {
    kind: "config map",
    path: "/etc/fairlead/cloud.conf",
    namespace: "kube-system",
    name: "fairlead-cluster",
    key: "cloud.conf",
  });
});
