import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { isAwsError } from "./errors.ts";
import { eventual } from "./testing/eventual.ts";
import { cloudOver, failure, instanceId, SmallEc2, testKeys, xml } from "./testing/small-ec2.ts";

const ask = { cause: "test", signal: new AbortController().signal };

async function bed(instances = 3) {
  const world = virtualWorld(1, { environment: testKeys });
  const ec2 = new SmallEc2(Array.from({ length: instances }, (_, n) => ({ id: instanceId(n) })));
  const { cloud } = await cloudOver(ec2, world);
  return { world, ec2, cloud };
}

test("tags are written a hundred resources a call, one call for each set of tags, whatever its order", async () => {
  const { world, ec2, cloud } = await bed(250);
  const writes = Array.from({ length: 250 }, (_, n) =>
    cloud.tags.create(instanceId(n), n % 2 ? { a: "1", b: "2" } : { b: "2", a: "1" }, ask),
  );
  await eventual(world, Promise.all([...writes, cloud.tags.create(instanceId(0), { a: "other" }, ask)]));
  const sizes = ec2.calls.map(({ parameters }) => [...parameters.keys()].filter((key) => key.startsWith("ResourceId.")).length);
  assert.deepEqual(
    sizes.toSorted((a, b) => a - b),
    [1, 50, 100, 100],
  );
});

test("an unknown resource does not keep its neighbours from being tagged", async () => {
  const { world, ec2, cloud } = await bed(3);
  ec2.instances.delete(instanceId(1));
  const outcomes = await eventual(world, Promise.allSettled([0, 1, 2].map((n) => cloud.tags.create(instanceId(n), { a: "b" }, ask))));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.ok(outcomes[1]?.status === "rejected" && isAwsError(outcomes[1].reason, "not-found"));
  assert.equal(ec2.calls.length, 2);
});

test("a throttled batch of tags is not sent one by one", async () => {
  const { world, ec2, cloud } = await bed(60);
  ec2.fault = () => failure(503, "RequestLimitExceeded", "Request limit exceeded.");
  const outcomes = await eventual(
    world,
    Promise.allSettled(Array.from({ length: 60 }, (_, n) => cloud.tags.create(instanceId(n), { a: "b" }, ask))),
  );
  assert.ok(outcomes.every((outcome) => outcome.status === "rejected" && isAwsError(outcome.reason, "throttled")));
  assert.equal(ec2.calls.length, 10);
});

test("zones are read once; an unknown one is looked for again after a while, not at every question", async () => {
  const { world, ec2, cloud } = await bed();
  const zone = (name: string) => eventual(world, cloud.availabilityZones.byName(name, ask));
  assert.equal((await zone("us-east-1a"))?.id, "use1-az6");
  assert.equal((await zone("us-east-1a"))?.type, "availability-zone");
  assert.equal(await zone(""), undefined);
  for (let n = 0; n < 5; n++) assert.equal(await zone("us-east-1z"), undefined);
  assert.equal(ec2.calls.length, 1);
  await world.advance(301_000);
  assert.equal(await zone("us-east-1z"), undefined);
  assert.equal(ec2.calls.length, 2);
});

test("topology is asked a hundred instances a call", async () => {
  const { world, ec2, cloud } = await bed();
  const nodes = await eventual(world, Promise.all(Array.from({ length: 250 }, (_, n) => cloud.topology.networkNodes(instanceId(n), ask))));
  assert.equal(ec2.calls.length, 3);
  assert.deepEqual(nodes[249], ["nn-1", `nn-${instanceId(249)}`]);
});

test("interfaces are found by address in one call for each family, over all pages", async () => {
  const { world, ec2, cloud } = await bed();
  const eni = (id: string, fields: string) => `<item><networkInterfaceId>${id}</networkInterfaceId>${fields}</item>`;
  ec2.fault = ({ parameters }) => {
    const sixth = parameters.get("Filter.3.Name") === "ipv6-addresses.ipv6-address";
    const found = sixth
      ? eni("eni-6", "<ipv6AddressesSet><item><ipv6Address>2001:db8::1</ipv6Address></item></ipv6AddressesSet>")
      : eni(
          parameters.get("NextToken") ? "eni-2" : "eni-1",
          `<privateIpAddress>10.0.0.${parameters.get("NextToken") ? 2 : 1}</privateIpAddress>`,
        );
    const more = sixth || parameters.get("NextToken") ? "" : "<nextToken>page-2</nextToken>";
    return xml(`<R><networkInterfaceSet>${found}</networkInterfaceSet>${more}</R>`);
  };
  const addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "2001:db8::1"];
  const found = await eventual(world, Promise.all(addresses.map((ip) => cloud.networkInterfaces.attachedWith(ip, "vpc-1", ask))));
  assert.deepEqual(
    found.map((interfaces) => interfaces.map(({ id }) => id)),
    [["eni-1"], ["eni-2"], [], ["eni-6"]],
  );
  assert.equal(ec2.calls.length, 3);
});

test("a noun is one for all who ask, and tags are written without the memory of instances that nobody asked for", async () => {
  const { world, ec2, cloud } = await bed(1);
  assert.equal(cloud.tags, cloud.tags);
  await eventual(world, cloud.tags.create(instanceId(0), { a: "b" }, ask));
  assert.equal(cloud.instances, cloud.instances);
  await eventual(world, cloud.instances.lookup(instanceId(0), ask));
  await eventual(world, cloud.tags.create(instanceId(0), { a: "c" }, ask));
  await eventual(world, cloud.instances.lookup(instanceId(0), { ...ask, maxAgeMs: 60_000 }));
  const described = ec2.calls.filter(({ parameters }) => parameters.get("Action") === "DescribeInstances").length;
  assert.equal(described, 2, "what was remembered of it is forgotten when its tags change");
});

test("instance types are read page after page, and an empty token is no token: it ends them", async () => {
  const { world, ec2, cloud } = await bed();
  const tokens: Readonly<Record<string, string>> = {
    "": "<nextToken>2</nextToken>",
    "2": "<nextToken>3</nextToken>",
    "3": "<nextToken></nextToken>",
  };
  ec2.fault = ({ parameters }) => {
    const token = parameters.get("NextToken") ?? "";
    return xml(`<R><instanceTypeSet><item><instanceType>t${token}.large</instanceType></item></instanceTypeSet>${tokens[token]}</R>`);
  };
  const types = await eventual(world, cloud.instanceTypes.all(ask));
  assert.deepEqual([types.map(({ name }) => name), ec2.calls.length], [["t.large", "t2.large", "t3.large"], 3]);
});
