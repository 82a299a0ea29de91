import assert from "node:assert/strict";
import { test } from "node:test";
import { planJson, type Step } from "../../aws/plan.ts";
import type { NetworkListener, NetworkLoadBalancer, TargetGroup } from "../model.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import { planNetwork, type SeenLoadBalancer, type SeenNetwork } from "./plan.ts";
import type { SeenListener } from "./plan-listeners.ts";

const tags = { whose: "ours" };
const healthCheck = {
  protocol: "TCP",
  port: "traffic-port",
  interval: 10,
  timeout: 10,
  healthyThreshold: 3,
  unhealthyThreshold: 3,
  keepsAll: true,
} as const;
const group: TargetGroup = {
  name: "tg",
  part: "a/b:80",
  tags,
  targetType: "ip",
  protocol: "TCP",
  port: 8080,
  healthCheck,
  attributes: { "proxy_protocol_v2.enabled": "false" },
};
const listener: NetworkListener = {
  port: 80,
  protocol: "TCP",
  certificates: [],
  attributes: {},
  why: "",
  tags,
  forward: { kind: "forward", to: [{ group: "tg" }] },
};
const wanted: NetworkLoadBalancer = {
  kind: "network",
  name: "lb",
  askedBy: "Service",
  internal: true,
  addressType: "ipv4",
  subnets: [{ subnet: "subnet-1" }, { subnet: "subnet-2" }],
  sourceNat: false,
  securityGroups: { kind: "wanted", groups: [{ kind: "given", id: "sg-1" }] },
  tags,
  attributes: {},
  listeners: [listener],
  targetGroups: [group],
};
const seenListener: SeenListener = {
  arn: "arn:80",
  port: 80,
  protocol: "TCP",
  actions: [{ Type: "forward", TargetGroupArn: "arn:tg" }],
  kept: { tags, furtherCertificates: [], attributes: {} },
};
const seenGroup: SeenTargetGroup = {
  arn: "arn:tg",
  name: "old-name",
  part: "a/b:80",
  tags,
  targetType: "ip",
  protocol: "TCP",
  port: 1,
  healthCheck,
  attributes: { "proxy_protocol_v2.enabled": "false" },
  targets: [],
};
const standing: SeenLoadBalancer = {
  arn: "arn:lb",
  securityGroups: ["sg-1"],
  attributes: {},
  listeners: [seenListener],
  kept: { addressType: "ipv4", zones: [{ subnet: "subnet-1" }, { subnet: "subnet-2" }], sourceNat: false, privateLinkRules: "on", tags },
};
const seen: SeenNetwork = { kind: "network", loadBalancer: standing, targetGroups: [seenGroup], isForeignTag: (key) => key === "theirs" };

const text = (steps: readonly Step[]) =>
  (planJson(steps) as { action: string; input: object }[]).map(
    ({ action, input }) => `${action.replace("elbv2:", "")} ${JSON.stringify(input)}`,
  );
const planned = (model: Partial<NetworkLoadBalancer>, lb: Partial<SeenLoadBalancer> = {}, more: Partial<SeenNetwork> = {}) =>
  text(planNetwork({ ...wanted, ...model }, "vpc-1", { ...seen, loadBalancer: { ...standing, ...lb }, ...more }));
const kept = (change: Partial<NonNullable<SeenLoadBalancer["kept"]>>) => ({ kept: { ...standing.kept!, ...change } });

test("what stands as wanted needs nothing, under whatever name, and with tags that others keep", () => {
  assert.deepEqual(planned({}), []);
  assert.deepEqual(planned({}, kept({ tags: { ...tags, theirs: "x" } })), []);
  assert.deepEqual(planned({ subnets: [{ subnet: "subnet-2" }, { subnet: "subnet-1", allocation: "eipalloc-1" }] }), []);
});

test("where it stands, and with which addresses, is changed by one call", () => {
  const dualstack = { addressType: "dualstack" } as const;
  assert.deepEqual(planned(dualstack), ['SetIpAddressType {"LoadBalancerArn":"arn:lb","IpAddressType":"dualstack"}']);
  assert.deepEqual(planned({ subnets: [{ subnet: "subnet-3" }] }), [
    'SetSubnets {"LoadBalancerArn":"arn:lb","SubnetMappings":[{"SubnetId":"subnet-3"}],"EnablePrefixForIpv6SourceNat":"off"}',
  ]);
  const [nat] = planned({ ...dualstack, sourceNat: true });
  assert.match(nat ?? "", /^SetSubnets .*"IpAddressType":"dualstack","EnablePrefixForIpv6SourceNat":"on"/);
  const addressed = { ...dualstack, subnets: [{ subnet: "subnet-1", ipv6Address: "2001:db8::1" }, { subnet: "subnet-2" }] };
  assert.match(planned(addressed)[0] ?? "", /^SetSubnets .*"IPv6Address":"2001:db8::1".*"IpAddressType":"dualstack"/);
});

test("prefixes of source NAT that AWS chose are left alone, chosen ones are kept", () => {
  const zones = [
    { subnet: "subnet-1", sourceNatPrefix: "2001:db8:0:0:1::/80" },
    { subnet: "subnet-2", sourceNatPrefix: "2001:db8:0:0:2::/80" },
  ];
  const is = kept({ addressType: "dualstack", sourceNat: true, zones });
  const asked = (...prefixes: (string | undefined)[]) => ({
    addressType: "dualstack" as const,
    sourceNat: true,
    subnets: prefixes.map((prefix, i) => ({ subnet: `subnet-${i + 1}`, ...(prefix && { sourceNatIpv6Prefix: prefix }) })),
  });
  assert.deepEqual(planned(asked(undefined, "auto_assigned"), is), []);
  assert.deepEqual(planned(asked("2001:db8:0:0:1::/80", undefined), is), []);
  assert.equal(planned(asked("2001:db8:0:0:9::/80", undefined), is).length, 1);
});

test("source NAT goes after the listeners that need it", () => {
  const udp = { ...seenListener, arn: "arn:53", port: 53, protocol: "UDP" };
  const is = { ...kept({ addressType: "dualstack", sourceNat: true }), listeners: [seenListener, udp] };
  assert.deepEqual(
    planned({ addressType: "dualstack" }, is).map((line) => line.split(" ")[0]),
    ["DeleteListener", "SetSubnets"],
  );
});

test("rules for PrivateLink traffic go with the groups, also of a new load balancer, which has them on", () => {
  const off = { privateLinkRules: "off" } as const;
  assert.deepEqual(planned(off), [
    'SetSecurityGroups {"LoadBalancerArn":"arn:lb","SecurityGroups":["sg-1"],"EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic":"off"}',
  ]);
  assert.deepEqual(planned(off, kept({ privateLinkRules: "off" })), []);
  const fresh = (model: Partial<NetworkLoadBalancer>) =>
    text(planNetwork({ ...wanted, ...model }, "vpc-1", { kind: "network", targetGroups: [] }));
  const calls = (model: Partial<NetworkLoadBalancer>) => fresh(model).map((line) => line.split(" ")[0]);
  assert.deepEqual(calls(off), ["CreateLoadBalancer", "SetSecurityGroups", "CreateTargetGroup", "CreateListener"]);
  assert.deepEqual(calls({ privateLinkRules: "on" }), ["CreateLoadBalancer", "CreateTargetGroup", "CreateListener"]);
});

test("tags of the load balancer, its target groups and its listeners are kept; of untagged ones they are not", () => {
  const other = { whose: "ours", more: "1" };
  const listeners = [{ ...listener, tags: other }];
  assert.deepEqual(
    planned({ tags: other, listeners, targetGroups: [{ ...group, tags: other }] }).map((line) => line.split(" ")[0]),
    ["AddTags", "AddTags", "AddTags"],
  );
  assert.deepEqual(planned({ listeners: [{ ...listener, tags: other, untagged: true }] }), []);
  assert.deepEqual(planned({}, kept({ tags: { ...tags, gone: "1" } })), ['RemoveTags {"ResourceArns":["arn:lb"],"TagKeys":["gone"]}']);
});

test("certificates, ALPN and attributes of listeners are kept, weights of groups too", () => {
  const tls: NetworkListener = { ...listener, protocol: "TLS", certificates: ["c1", "c2"], sslPolicy: "p", alpnPolicy: "HTTP2Only" };
  const is: SeenListener = {
    ...seenListener,
    protocol: "TLS",
    certificate: "c1",
    sslPolicy: "p",
    alpnPolicy: "HTTP2Only",
    kept: { tags, furtherCertificates: ["c2"], attributes: {} },
  };
  assert.deepEqual(planned({ listeners: [tls] }, { listeners: [is] }), []);
  assert.deepEqual(planned({ listeners: [{ ...tls, certificates: ["c1", "c3"] }] }, { listeners: [is] }), [
    'AddListenerCertificates {"ListenerArn":"arn:80","Certificates":[{"CertificateArn":"c3"}]}',
    'RemoveListenerCertificates {"ListenerArn":"arn:80","Certificates":[{"CertificateArn":"c2"}]}',
  ]);
  assert.match(
    planned({ listeners: [{ ...tls, alpnPolicy: "None" }] }, { listeners: [is] })[0] ?? "",
    /ModifyListener .*"AlpnPolicy":\["None"\]/,
  );
  assert.deepEqual(
    planned({ listeners: [{ ...tls, alpnPolicy: "None" }] }, { listeners: [{ ...is, alpnPolicy: undefined as never }] }),
    [],
  );
  assert.deepEqual(planned({ listeners: [{ ...listener, attributes: { "tcp.idle_timeout.seconds": "60" } }] }), [
    'ModifyListenerAttributes {"ListenerArn":"arn:80","Attributes":[{"Key":"tcp.idle_timeout.seconds","Value":"60"}]}',
  ]);
  const weighted = {
    ...listener,
    forward: {
      kind: "forward",
      to: [
        { group: "tg", weight: 1 },
        { arn: "arn:other", weight: 3 },
      ],
    },
  } as const;
  assert.match(
    planned({ listeners: [weighted] })[0] ?? "",
    /ModifyListener .*"TargetGroups":\[\{"TargetGroupArn":"arn:tg","Weight":1\},\{"TargetGroupArn":"arn:other","Weight":3\}\]/,
  );
});

test("a group of another type is made anew, and goes last; a health check is changed in place unless AWS cannot", () => {
  assert.deepEqual(
    planned({ targetGroups: [{ ...group, targetType: "instance" }] }).map((line) => line.split(" ")[0]),
    ["CreateTargetGroup", "ModifyListener", "DeleteTargetGroup"],
  );
  const slower = { ...group, healthCheck: { ...healthCheck, timeout: 6 } };
  const calls = (model: TargetGroup) => planned({ targetGroups: [model] }).map((line) => line.split(" ")[0]);
  assert.deepEqual(calls(slower), ["ModifyTargetGroup"]);
  assert.deepEqual(calls({ ...slower, fixesHealthCheck: true }), ["CreateTargetGroup", "ModifyListener", "DeleteTargetGroup"]);
  const preserving = { ...group, name: "new", part: "a/b:81", attributes: { "preserve_client_ip.enabled": "true" } };
  assert.ok(
    calls(preserving).includes("ModifyTargetGroupAttributes"),
    "a new group of pods does not preserve clients' addresses by itself",
  );
});

test("capacity is reserved last, and given up by 0", () => {
  assert.deepEqual(planned({ capacity: 5 }), [
    'ModifyCapacityReservation {"LoadBalancerArn":"arn:lb","MinimumLoadBalancerCapacity":{"CapacityUnits":5}}',
  ]);
  assert.deepEqual(planned({ capacity: 5 }, kept({ capacity: 5 })), []);
  assert.deepEqual(planned({ capacity: 0 }, kept({ capacity: 5 })), [
    'ModifyCapacityReservation {"LoadBalancerArn":"arn:lb","ResetCapacityReservation":true}',
  ]);
});
