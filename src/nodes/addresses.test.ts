import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "../aws/instance.ts";
import {
  addressChange,
  cloudAddresses,
  desiredAddresses,
  groupedByType,
  type NodeAddress,
  ProvidedNodeIpInvalid,
  preferProvided,
} from "./addresses.ts";

type InterfaceFacts = { ips: string[]; ipv6?: string[]; device?: number; status?: string };

function instance({ interfaces = [], ...rest }: Partial<Omit<Instance, "interfaces">> & { interfaces?: InterfaceFacts[] }): Instance {
  return {
    id: "i-1",
    interfaces: interfaces.map(({ ips, ipv6 = [], device, status = "in-use" }) => ({
      status,
      attachment: device === undefined ? undefined : { deviceIndex: device },
      privateAddresses: ips.map((ip, index) => ({ ip, primary: index === 0 })),
      ipv6Addresses: ipv6,
    })),
    ...rest,
  } as unknown as Instance;
}

/** `InternalIP=10.0.0.1` */
const brief = (addresses: readonly NodeAddress[]) => addresses.map(({ type, address }) => `${type}=${address}`);
const list = (...texts: string[]) => texts.map((text) => ({ type: text.split("=")[0], address: text.split("=")[1] }) as NodeAddress);

test("public and private: InternalIP, ExternalIP, InternalDNS, Hostname, ExternalDNS in that order", () => {
  const seen = instance({
    interfaces: [{ ips: ["10.0.0.1"], device: 0 }],
    publicIp: "1.2.3.4",
    privateDnsName: "ip-10-0-0-1.ec2.internal",
    publicDnsName: "ec2-1",
  });
  assert.deepEqual(brief(cloudAddresses(seen, ["ipv4"])), [
    "InternalIP=10.0.0.1",
    "ExternalIP=1.2.3.4",
    "InternalDNS=ip-10-0-0-1.ec2.internal",
    "Hostname=ip-10-0-0-1.ec2.internal",
    "ExternalDNS=ec2-1",
  ]);
});

test("without interfaces only the names and the public address are left", () => {
  assert.deepEqual(brief(cloudAddresses(instance({ publicIp: "1.2.3.4", privateDnsName: "n" }), ["ipv4"])), [
    "ExternalIP=1.2.3.4",
    "InternalDNS=n",
    "Hostname=n",
  ]);
});

test("interfaces are ordered by device index, secondary addresses after each primary; only those in use count", () => {
  const interfaces = [
    { ips: ["10.0.1.1", "10.0.1.2"], device: 1 },
    { ips: ["10.0.9.9"], device: 2, status: "available" },
    { ips: ["10.0.0.1"], device: 0 },
  ];
  assert.deepEqual(brief(cloudAddresses(instance({ interfaces }), ["ipv4"])), [
    "InternalIP=10.0.0.1",
    "InternalIP=10.0.1.1",
    "InternalIP=10.0.1.2",
  ]);
});

test("IPv6 only: the first address of each interface, nothing else", () => {
  const seen = instance({
    interfaces: [{ ips: ["10.0.0.1"], ipv6: ["2001:DB8::1", "2001:db8::2"], device: 0 }],
    privateDnsName: "n",
    publicIp: "1.2.3.4",
  });
  assert.deepEqual(brief(cloudAddresses(seen, ["ipv6"])), ["InternalIP=2001:db8::1"]);
  assert.deepEqual(brief(cloudAddresses(seen, ["ipv6", "ipv4"])).slice(0, 2), ["InternalIP=2001:db8::1", "InternalIP=10.0.0.1"]);
});

test("an address that is none is an error that names the instance", () => {
  assert.throws(
    () => cloudAddresses(instance({ interfaces: [{ ips: ["banana"], device: 0 }] }), ["ipv4"]),
    /"banana" as an address of i-1/,
  );
});

test("kubelet's Hostname is kept where the cloud has none", () => {
  const existing = list("InternalIP=10.0.0.1", "Hostname=kubelets-own");
  assert.deepEqual(brief(desiredAddresses(list("InternalIP=10.0.0.1"), existing, undefined)), [
    "InternalIP=10.0.0.1",
    "Hostname=kubelets-own",
  ]);
  assert.deepEqual(brief(desiredAddresses(list("Hostname=cloud"), existing, undefined)), ["Hostname=cloud"]);
});

test("the provided node IP comes first and drops the others of its type", () => {
  const cloud = list("InternalIP=10.0.0.1", "InternalIP=10.0.0.2", "ExternalIP=1.2.3.4", "ExternalIP=10.0.0.2", "Hostname=h");
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["10.0.0.1", ["InternalIP=10.0.0.1", "ExternalIP=1.2.3.4", "ExternalIP=10.0.0.2", "Hostname=h"]],
    ["1.2.3.4", ["ExternalIP=1.2.3.4", "InternalIP=10.0.0.1", "InternalIP=10.0.0.2", "Hostname=h"]],
    ["10.0.0.2", ["InternalIP=10.0.0.2", "ExternalIP=10.0.0.2", "Hostname=h"]],
  ];
  for (const [provided, expected] of cases) assert.deepEqual(brief(preferProvided(cloud, provided)), expected, provided);
});

test("IPv6 is compared by number, and a pair keeps its order", () => {
  const cloud = list("InternalIP=10.0.0.1", "InternalIP=2001:db8::1", "InternalIP=2001:db8::2");
  assert.deepEqual(brief(preferProvided(cloud, "2001:0db8:0::1")), ["InternalIP=2001:db8::1"]);
  assert.deepEqual(brief(preferProvided(cloud, "2001:db8::2,10.0.0.1")), ["InternalIP=2001:db8::2", "InternalIP=10.0.0.1"]);
  assert.deepEqual(brief(preferProvided(cloud, "10.0.0.1,2001:db8::2")), ["InternalIP=10.0.0.1", "InternalIP=2001:db8::2"]);
});

test("a provided IP that the cloud does not know, or that is none, is refused", () => {
  const cloud = list("InternalIP=10.0.0.1");
  assert.throws(() => preferProvided(cloud, "10.0.0.9"), /failed to get node address from cloud provider that matches ip: 10\.0\.0\.9/);
  for (const bad of [
    "",
    "10.0.0.1,",
    "10.0.0.1, 2001:db8::1",
    "10.0.0.1,10.0.0.2",
    "0.0.0.0",
    "::",
    "10.0.0.1,2001:db8::1,10.0.0.2",
    "x",
  ]) {
    assert.throws(() => preferProvided(cloud, bad), ProvidedNodeIpInvalid, bad);
  }
  assert.throws(() => preferProvided(cloud, "10.0.0.1,2001:db8::1"), /matches ip: 2001:db8::1/);
});

test("nothing is written when the list is as wanted, also in the order the API server keeps it", () => {
  const wanted = list("InternalIP=10.0.0.1", "Hostname=h", "InternalIP=2001:db8::1");
  assert.equal(addressChange(wanted, wanted), undefined);
  assert.equal(addressChange(groupedByType(wanted), wanted), undefined);
  assert.equal(addressChange(wanted, []), undefined);
});

test("a change replaces the list; a first list is written plainly", () => {
  const wanted = list("InternalIP=10.0.0.1", "InternalIP=10.0.0.2");
  assert.deepEqual(addressChange([], wanted), wanted);
  assert.deepEqual(addressChange(list("InternalIP=10.0.0.2", "InternalIP=10.0.0.1"), wanted), [...wanted, { $patch: "replace" }]);
});
