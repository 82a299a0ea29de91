import assert from "node:assert/strict";
import test from "node:test";
import { testWorld } from "../sandbox/cloud/testing.ts";
import { type Device, DeviceNames, NoFreeDevice } from "./devices.ts";

const device = (name: string, volumeId: string, card?: number): Device => ({ name, volumeId, card });

test("the first free name is taken, past those that EC2 shows and those that are promised", () => {
  const devices = new DeviceNames(testWorld().clock);
  assert.equal(devices.choose("i-1", "vol-1", [], 1).name, "/dev/xvdaa");
  assert.equal(devices.choose("i-1", "vol-2", [device("/dev/xvdab", "vol-9")], 1).name, "/dev/xvdac");
  assert.equal(devices.choose("i-2", "vol-3", [], 1).name, "/dev/xvdaa", "another instance has names of its own");
});

test("a volume keeps the name it has, in whatever form", () => {
  const devices = new DeviceNames(testWorld().clock);
  for (const name of ["/dev/sdf", "/dev/odd"]) {
    assert.deepEqual(devices.choose("i-1", "vol-1", [device(name, "vol-1")], 1), { name, card: undefined, assigned: true });
  }
});

test("a promise holds until it is released", () => {
  const devices = new DeviceNames(testWorld().clock);
  devices.choose("i-1", "vol-1", [], 1);
  assert.equal(devices.choose("i-1", "vol-1", [], 1).assigned, true);
  devices.release("i-1", "vol-1");
  assert.equal(devices.choose("i-1", "vol-2", [], 1).name, "/dev/xvdaa");
});

test("a name that EC2 calls used is tried last, and again after an hour", () => {
  const world = testWorld();
  const devices = new DeviceNames(world.clock);
  devices.suspect("i-1", "/dev/xvdaa");
  assert.equal(devices.choose("i-1", "vol-1", [], 1).name, "/dev/xvdab");
  world.pass(3_600_000);
  assert.equal(devices.choose("i-1", "vol-2", [], 1).name, "/dev/xvdaa");
});

test("there are 127 names, the suspected ones last, and then there is none", () => {
  const devices = new DeviceNames(testWorld().clock);
  devices.suspect("i-1", "/dev/xvdaa");
  const chosen = Array.from({ length: 127 }, (_, index) => devices.choose("i-1", `vol-${index}`, [], 1).name);
  assert.equal(new Set(chosen).size, 127);
  assert.equal(chosen[0], "/dev/xvdab");
  assert.equal(chosen.at(-1), "/dev/xvdaa");
  assert.ok(!chosen.includes("/dev/xvda") && !chosen.some((name) => name.startsWith("/dev/xvdc") && name.length > 9));
  assert.throws(() => devices.choose("i-1", "vol-more", [], 1), NoFreeDevice);
});

test("volumes go to the EBS card that has the fewest, the lowest of equals", () => {
  const devices = new DeviceNames(testWorld().clock);
  assert.deepEqual(
    ["vol-1", "vol-2", "vol-3"].map((volume) => devices.choose("i-1", volume, [device("/dev/sda1", "vol-root")], 2).card),
    [0, 1, 0],
  );
  const shown = [device("/dev/xvdaa", "vol-1", 0), device("/dev/xvdab", "vol-2", 1), device("/dev/xvdac", "vol-3", 0)];
  assert.equal(devices.choose("i-1", "vol-4", shown, 2).card, 1, "what is both shown and promised counts once");
  assert.equal(devices.choose("i-2", "vol-5", shown, 1).card, undefined);
});
