import assert from "node:assert/strict";
import { test } from "node:test";
import { stop } from "../ec2/instance-lifecycle.ts";
import { interruptSpot, recommendRebalance, scheduleMaintenance } from "../ec2/interruptions.ts";
import { launchNodes } from "../network.ts";
import { receiveNow } from "../sqs/messages.ts";
import { createQueue } from "../sqs/queues.ts";
import { networkBed } from "../testing.ts";
import { emit, type Rule, rules } from "./bus.ts";
import { capacityBlockExpiration, reservationInterruption } from "./shapes.ts";

function bed(...more: Partial<Rule>[]) {
  const { cloud, network, world } = networkBed();
  const { account } = cloud;
  const { QueueUrl } = createQueue(account.sqs, { QueueName: "events" });
  const queueArn = "arn:aws:sqs:us-east-1:123456789012:events";
  const node = launchNodes(cloud, network, 1)[0]!;
  world.pass(60_000);
  account.time.settle();
  for (const [index, rule] of more.entries()) {
    rules(account).put(String(index), { name: String(index), sources: ["aws.ec2", "aws.health"], queueArn, ...rule });
  }
  return {
    account,
    node: account.ec2.instances.get(node.id)!,
    pass(ms: number) {
      world.pass(ms);
      account.time.settle();
    },
    received: () => receiveNow(account.sqs, { QueueUrl, MaxNumberOfMessages: 10 }).Messages.map(({ Body }) => JSON.parse(Body)),
  };
}

test("The envelope has the account, the region and the time", () => {
  const { account, node, received } = bed({});
  recommendRebalance(account.ec2, node);
  const [{ id, ...event }] = received();
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(event, {
    version: "0",
    "detail-type": "EC2 Instance Rebalance Recommendation",
    source: "aws.ec2",
    account: "123456789012",
    time: "2026-01-01T00:01:00Z",
    region: "us-east-1",
    resources: [`arn:aws:ec2:${node.zone}:instance/${node.id}`],
    detail: { "instance-id": node.id },
  });
});

test("EC2, Spot and Health emit events of their own", () => {
  const { account, node, received, pass } = bed({});
  const { ec2 } = account;
  scheduleMaintenance(ec2, node, { code: "instance-retirement", description: "retired", notBefore: Date.UTC(2026, 5, 5, 15, 10, 9) });
  interruptSpot(ec2, node);
  pass(3 * 60_000);
  const [health, spot, ...states] = received();
  assert.deepEqual(
    [health.source, health.detail.eventTypeCategory, health.detail.affectedEntities, health.detail.startTime],
    ["aws.health", "scheduledChange", [{ entityValue: node.id }], "Fri, 05 Jun 2026 15:10:09 GMT"],
  );
  assert.deepEqual(spot.detail, { "instance-id": node.id, "instance-action": "terminate" });
  assert.deepEqual(
    states.map(({ detail }) => detail.state),
    ["shutting-down", "terminated"],
  );
});

test("A rule takes the types it names, and two rules deliver twice", () => {
  const { account, node, received } = bed({ detailTypes: ["EC2 Instance State-change Notification"] }, { sources: ["aws.ec2"] });
  recommendRebalance(account.ec2, node);
  stop(account.ec2, node);
  assert.deepEqual(
    received().map((event) => event.detail.state ?? "rebalance"),
    ["rebalance", "stopping", "stopping"],
  );
});

test("The warning of a capacity reservation has a text for its resources, as AWS documents it", () => {
  const { account, node, received } = bed({});
  emit(account, reservationInterruption(account, node.id, node.zoneId, Date.UTC(2026, 0, 1, 1)));
  emit(account, capacityBlockExpiration(account, "cr-0123456789abcdef0", Date.UTC(2026, 0, 1, 1)));
  const [reservation, block] = received();
  assert.equal(reservation.resources, `arn:aws:ec2:us-east-1:123456789012:instance/${node.id}`);
  assert.deepEqual(block.detail, { "capacity-reservation-id": "cr-0123456789abcdef0", "end-date": "2026-01-01T01:00:00.000Z" });
});
