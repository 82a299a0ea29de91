import assert from "node:assert/strict";
import { test } from "node:test";
import { realWorld } from "../runtime/world.ts";
import type { Caller } from "./caller.ts";
import { type Shape, scanBody } from "./scan.ts";
import { Subnets } from "./subnets.ts";
import { Vpcs } from "./vpcs.ts";

const { clock } = realWorld();
const ask = { cause: "test", signal: new AbortController().signal, urgency: "user" } as const;

test("of a subnet only IPv6 blocks count that are associated: one that is about to be, or was, gives no addresses", async () => {
  const block = (cidr: string, state: string) =>
    `<item><ipv6CidrBlock>${cidr}</ipv6CidrBlock><ipv6CidrBlockState><state>${state}</state></ipv6CidrBlockState></item>`;
  const blocks = ["associating", "associated", "disassociating", "disassociated", "failed"].map((state, i) => block(`fd0${i}::/64`, state));
  const body = `<DescribeSubnetsResponse><subnetSet><item><subnetId>subnet-1</subnetId>
    <ipv6CidrBlockAssociationSet>${blocks.join("")}</ipv6CidrBlockAssociationSet></item></subnetSet></DescribeSubnetsResponse>`;
  const bytes = async function* () {
    yield Buffer.from(body);
  };
  const caller = { scan: (_action: unknown, _input: unknown, shape: Shape<unknown>) => scanBody(bytes(), shape, clock) };
  const found = await new Subnets(caller as unknown as Caller).list([], ask);
  assert.deepEqual(
    found.map(({ id, ipv6Cidrs }) => [id, ipv6Cidrs]),
    [["subnet-1", ["fd01::/64"]]],
  );
});

test("of a VPC only blocks count that are associated, of either family", async () => {
  const states = ["associating", "associated", "failing"];
  const answer = {
    Vpcs: [
      {
        CidrBlockAssociationSet: states.map((State, i) => ({ CidrBlock: `10.${i}.0.0/16`, CidrBlockState: { State } })),
        Ipv6CidrBlockAssociationSet: states.map((State, i) => ({ Ipv6CidrBlock: `fd0${i}::/56`, Ipv6CidrBlockState: { State } })),
      },
    ],
  };
  const vpcs = new Vpcs({ call: async () => answer } as unknown as Caller, clock);
  assert.deepEqual(await vpcs.cidrs("vpc-1", ask), ["10.1.0.0/16", "fd01::/56"]);
});
