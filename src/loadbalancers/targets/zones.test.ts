import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeenBinding } from "./binding.ts";
import type { Endpoint } from "./endpoints.ts";
import type { SeenPod } from "./pods.ts";
import { zonesFor } from "./zones.ts";

const ask = { cause: "test", signal: new AbortController().signal };
const labels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  zoned: { "topology.kubernetes.io/zone": "us-east-1b" },
  plain: {},
};

interface Wish {
  readonly cidrs?: readonly string[] | undefined | Error;
  readonly role?: string;
  readonly named?: boolean;
  readonly node?: string;
}

/** The zones that these addresses are registered for. */
async function zones(addresses: readonly string[], wish: Wish = {}): Promise<readonly (string | undefined)[]> {
  const { role, named = false, node = "zoned" } = wish;
  const cidrs = "cidrs" in wish ? wish.cidrs : ["10.0.0.0/16", "2001:db8::/56"];
  const spec = { targetType: "ip", vpcID: "vpc-1", serviceRef: { name: "web", port: 80 }, ...(role && { iamRoleArnToAssume: role }) };
  const around = {
    cloud: {
      vpcs: {
        cidrs: async () => {
          if (cidrs instanceof Error) throw cidrs;
          return cidrs;
        },
      },
    },
    nodes: { get: (name: string) => labels[name] && { metadata: { labels: labels[name] } } },
  };
  const endpoints = addresses.map((id): Endpoint => ({ id, port: 80, createdAt: 0, pod: { node } as SeenPod }));
  const zoneOf = await zonesFor({ spec } as unknown as SeenBinding, endpoints, named, around as never, ask);
  return endpoints.map(zoneOf);
}

test("addresses of the VPC have no zone, others have all of them, whichever their family", async () => {
  assert.deepEqual(await zones(["10.0.1.2", "172.16.0.1", "2001:db8::1", "fd00::1"]), [undefined, "all", undefined, "all"]);
});

test("where AWS wants a zone named it is the node's; of a node that names none all, of one that cannot be read nobody knows", async () => {
  assert.deepEqual(await zones(["10.0.1.2", "172.16.0.1"], { named: true }), [undefined, "us-east-1b"]);
  assert.deepEqual(await zones(["172.16.0.1"], { named: true, node: "plain" }), ["all"]);
  await assert.rejects(zones(["172.16.0.1"], { named: true, node: "gone" }), /the zone of 172\.16\.0\.1 is not known/);
});

test("a VPC that is not ours is another account's where a role is assumed, and a failure elsewhere", async () => {
  assert.deepEqual(await zones(["10.0.1.2"], { cidrs: undefined, role: "arn", named: true }), ["all"]);
  await assert.rejects(zones(["10.0.1.2"], { cidrs: undefined }), /VPC vpc-1 .* is not known to these credentials/);
  await assert.rejects(zones(["10.0.1.2"], { cidrs: new Error("RequestLimitExceeded") }), /RequestLimitExceeded/);
});

test("for instances, and where nobody is to be registered, nothing is asked", async () => {
  const silent = { cloud: undefined, nodes: undefined } as never;
  const spec = { targetType: "instance", serviceRef: { name: "web", port: 80 } };
  const endpoint: Endpoint = { id: "i-1", port: 80, createdAt: 0 };
  assert.equal((await zonesFor({ spec } as SeenBinding, [endpoint], false, silent, ask))(endpoint), undefined);
  assert.equal((await zonesFor({ spec: { ...spec, targetType: "ip" } } as SeenBinding, [], false, silent, ask))(endpoint), undefined);
});
