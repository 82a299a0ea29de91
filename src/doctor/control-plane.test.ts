import assert from "node:assert/strict";
import { test } from "node:test";
import { type ControlPlanePod, checkControlPlane, flagsIn } from "./control-plane.ts";
import type { Picture } from "./picture.ts";

const look = (...controlPlane: readonly ControlPlanePod[]) =>
  checkControlPlane({ controlPlane: { known: true, value: controlPlane } } as unknown as Picture).map(
    ({ level, what }) => `${level} ${what}`,
  );
const pod = (component: ControlPlanePod["component"], ...words: readonly string[]): ControlPlanePod => ({
  name: `${component}-1`,
  component,
  flags: flagsIn([component, ...words]),
});

test("flags are read as components are given them, and within a shell's command line", () => {
  assert.deepEqual(flagsIn(["kube-apiserver", "--a=1", "--b", "2", "--c", "--d=x=y", "--a=3"]), { a: "3", b: "2", c: "", d: "x=y" });
  assert.deepEqual(flagsIn(["/bin/sh", "-c", "exec kube-apiserver --cloud-provider=aws --v=2 2>&1"]), { "cloud-provider": "aws", v: "2" });
});

test("components without a provider of their own are right, with the flag or without", () => {
  const apart = [pod("kube-apiserver"), pod("kube-controller-manager", "--cloud-provider=external")];
  assert.deepEqual(look(...apart), ["ok 2 components run without a cloud provider of their own"]);
  assert.deepEqual(look(), [], "where none is seen nothing is said");
});

test("a provider of their own, and the plugin that labels volumes, are problems", () => {
  const [manager] = look(pod("kube-controller-manager", "--cloud-provider", "aws"));
  assert.match(manager ?? "", /^problem kube-controller-manager-1 run with a cloud provider of its own: both would manage/);
  const server = look(pod("kube-apiserver", "--cloud-provider=aws", "--enable-admission-plugins=NodeRestriction,PersistentVolumeLabel"));
  assert.match(server[0] ?? "", /^problem kube-apiserver-1 run with a cloud provider of its own$/);
  assert.match(server[1] ?? "", /^problem kube-apiserver-1 run with the admission plugin PersistentVolumeLabel/);
});
