import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { OwnInstance } from "./own-instance.ts";

const document = JSON.stringify({
  accountId: "111122223333",
  availabilityZone: "eu-west-1b",
  instanceId: "i-1",
  instanceType: "m5.large",
  privateIp: "10.0.0.1",
  region: "eu-west-1",
});
const single = {
  "meta-data/instance-life-cycle": "spot",
  "meta-data/local-hostname": "ip-10-0-0-1.ec2.internal",
};

function bed(texts: Readonly<Record<string, string>>) {
  const world = virtualWorld(1);
  let fails = 0;
  const asked = { count: 0 };
  const metadata = {
    get: async (path: string) => {
      asked.count++;
      if (fails-- > 0) throw new Error("no answer");
      return texts[path];
    },
  };
  const own = new OwnInstance({ world, log: silentLog, metrics: newRegistry() }, metadata);
  return { world, own, asked, failOnce: () => (fails = 1) };
}

test("what the document and the paths say; a path that is not there is empty", async () => {
  const { own } = bed({ "dynamic/instance-identity/document": document, ...single });
  assert.deepEqual(own.annotations, {}, "nothing is known before it is asked");
  await own.learn(new AbortController().signal);
  assert.deepEqual(own.annotations, {
    "account-id": "111122223333",
    "availability-zone": "eu-west-1b",
    "instance-id": "i-1",
    "instance-type": "m5.large",
    "local-ipv4": "10.0.0.1",
    region: "eu-west-1",
    "instance-life-cycle": "spot",
    "local-hostname": "ip-10-0-0-1.ec2.internal",
    "public-hostname": "",
    "public-ipv4": "",
  });
});

test("where the document cannot be read its parts are asked for one by one, and the region is the zone without its last letter", async () => {
  const { own } = bed({
    "dynamic/instance-identity/document": "<html>",
    "meta-data/placement/availability-zone": "eu-west-1b",
    "meta-data/instance-id": "i-1\n",
    ...single,
  });
  await own.learn(new AbortController().signal);
  const { "instance-id": id, region, "account-id": account, "availability-zone": zone } = own.annotations;
  assert.deepEqual([id, region, account, zone], ["i-1", "eu-west-1", "", "eu-west-1b"]);
});

test("a service that does not answer is asked again, and is no reason to end", async () => {
  const { world, own, asked, failOnce } = bed({ "dynamic/instance-identity/document": document });
  failOnce();
  void own.learn(new AbortController().signal);
  await world.advance(1_000);
  assert.deepEqual([own.annotations, asked.count], [{}, 1]);
  await world.advance(30_000);
  assert.equal(own.annotations["instance-id"], "i-1");
});
