import assert from "node:assert/strict";
import { test } from "node:test";
import { fromJSON } from "@grpc/proto-loader";
import { csiDescriptor } from "./descriptor.ts";
import { descriptorOf } from "./served-descriptor.ts";

type Json = Parameters<typeof fromJSON>[0];
const definitionsOf = (descriptor: object) => fromJSON(descriptor as Json, { longs: String, defaults: true, oneofs: true });

test("a service is described by its own messages and by nothing else, and says the same in the same bytes", () => {
  const own = definitionsOf(descriptorOf(["csi.v1.Node", "csi.v1.Identity", "pluginregistration.Registration"]));
  const names = Object.keys(own);
  assert.ok(
    ["csi.v1.Node", "csi.v1.Identity", "csi.v1.VolumeCapability", "pluginregistration.PluginInfo"].every((name) => names.includes(name)),
  );
  assert.ok(!names.some((name) => /CreateVolume|csi.v1.Controller$|modify/.test(name)), names.join());
  const all = definitionsOf(csiDescriptor);
  const [mine, whole] = [own, all].map((definitions) => Object.values(definitions["csi.v1.Node"] as object));
  assert.deepEqual(
    mine!.map(({ path }) => path),
    whole!.map(({ path }) => path),
  );
  const request = { volumeId: "vol-1", volumeCapability: { mount: { fsType: "xfs" }, accessMode: { mode: 1 } }, volumeContext: { a: "b" } };
  const stage = (methods: typeof mine) => methods!.find(({ path }) => path.endsWith("NodeStageVolume")).requestSerialize(request) as Buffer;
  assert.deepEqual(stage(mine), stage(whole));
});
