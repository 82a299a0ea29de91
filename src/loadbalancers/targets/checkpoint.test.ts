import assert from "node:assert/strict";
import { test } from "node:test";
import type { BindingSpec } from "./binding.ts";
import { checkpointOf, specText } from "./checkpoint.ts";

const spec: BindingSpec = {
  targetGroupARN: "arn:aws:elasticloadbalancing:eu-central-1:111122223333:targetgroup/shop-web/0123456789abcdef",
  targetType: "ip",
  targetGroupProtocol: "TCP",
  serviceRef: { name: "web", port: 80 },
  networking: {
    ingress: [{ from: [{ securityGroup: { groupID: "sg-0123456789abcdef0" } }], ports: [{ protocol: "TCP", port: 8080 }] }],
  },
  ipAddressType: "ipv4",
  vpcID: "vpc-0a1b2c3d",
};

test("a checkpoint is the reference's, byte for byte", () => {
  const endpoints = [
    { id: "10.0.2.7", port: 8080, createdAt: Date.parse("2026-01-02T03:04:05Z") },
    { id: "10.0.1.15", port: 8080, createdAt: Date.parse("2026-01-02T03:05:05Z") },
  ];
  assert.equal(checkpointOf(endpoints, spec), "480vnghkAhERBpX8L643t9xZsehf0asKinU8_IYVk1A/1Tt3sxJi-dl12nFPbISgIYkP2Rr3fLIQ8ZRlyx_4Hhk");
  assert.ok(checkpointOf([], spec).startsWith("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU/"));
});

test("another spec is another checkpoint, and so is another pod of the same address", () => {
  const one = { id: "10.0.2.7", port: 8080, createdAt: 1_000 };
  const base = checkpointOf([one], spec);
  assert.equal(checkpointOf([{ ...one }], { ...spec }), base);
  assert.notEqual(checkpointOf([one], { ...spec, serviceRef: { name: "web", port: 81 } }), base);
  assert.notEqual(checkpointOf([{ ...one, createdAt: 2_000 }], spec), base);
  assert.notEqual(checkpointOf([{ ...one, quicServerId: "0x01" }], spec), base);
  const other = { ...one, id: "10.0.2.8" };
  assert.equal(checkpointOf([one, other], spec), checkpointOf([other, one], spec), "in whichever order they come");
});

test("fields come in the reference's order, empty ones not at all, and signs of HTML are escaped", () => {
  const odd: BindingSpec = {
    vpcID: "",
    multiClusterTargetGroup: false,
    nodeSelector: { matchExpressions: [{ key: "a<b", operator: "Exists" }], matchLabels: { z: "1", b: "2" } },
    serviceRef: { port: "http", name: "web" },
    networking: { ingress: [{ ports: [], from: [] }] },
    targetGroupName: "x",
  };
  const networking = '"networking":{"ingress":[{"from":[],"ports":[]}]}';
  const selector = '"nodeSelector":{"matchLabels":{"b":"2","z":"1"},"matchExpressions":[{"key":"a\\u003cb","operator":"Exists"}]}';
  assert.equal(specText(odd), `{"targetGroupName":"x","serviceRef":{"name":"web","port":"http"},${networking},${selector}}`);
});
