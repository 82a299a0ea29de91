import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { sdkConfig } from "../sdk-handler.ts";
import { cloudBed, refused } from "../testing.ts";

async function bed() {
  const { cloud, world } = cloudBed();
  const sqs = new SQSClient(sdkConfig(cloud));
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: "events", Attributes: { VisibilityTimeout: "20" } }));
  const waiting = async (count: number) => {
    while (cloud.account.sqs.arrivals.size !== count) await setImmediate();
  };
  return { cloud, world, sqs, QueueUrl, waiting };
}

test("SQS on the wire: a message is sent, received, kept for longer and deleted", async () => {
  const { cloud, sqs, QueueUrl } = await bed();
  assert.equal((await sqs.send(new GetQueueUrlCommand({ QueueName: "events" }))).QueueUrl, QueueUrl);
  const { MessageId } = await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "hello" }));
  const received = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ["All"] }));
  const [message] = received.Messages ?? [];
  assert.equal(message?.MessageId, MessageId);
  assert.equal(message?.Body, "hello");
  assert.equal(message?.Attributes?.ApproximateReceiveCount, "1");
  const { ReceiptHandle } = message!;
  await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 60 }));
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
  assert.equal(Attributes?.ApproximateNumberOfMessagesNotVisible, "0");
  const journal = cloud.controls.journal.counts();
  assert.deepEqual(journal["sqs:ReceiveMessage"], { ok: 1 });
});

test("A long poll waits on the clock of the world, and ends with the first message that comes", async () => {
  const { world, sqs, QueueUrl, waiting } = await bed();
  const poll = () => sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }));
  const empty = poll();
  await waiting(1);
  world.pass(20_000);
  assert.deepEqual((await empty).Messages ?? [], []);
  const filled = poll();
  await waiting(1);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "now" }));
  assert.equal((await filled).Messages?.[0]?.Body, "now");
  assert.equal(world.timers(), 0);
});

test("Two long polls and one message: one gets it, the other goes on waiting", async () => {
  const { world, sqs, QueueUrl, waiting } = await bed();
  const polls = [1, 2].map(() => sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 10 })));
  await waiting(2);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "one" }));
  const first = await Promise.race(polls);
  assert.equal(first.Messages?.length, 1);
  await waiting(1);
  world.pass(10_000);
  const counts = (await Promise.all(polls)).map(({ Messages = [] }) => Messages.length);
  assert.deepEqual(counts.sort(), [0, 1]);
});

test("A caller that gives up its long poll receives nothing: the message is there for the next", async () => {
  const { sqs, QueueUrl, waiting } = await bed();
  const gone = new AbortController();
  const polling = sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }), { abortSignal: gone.signal });
  await waiting(1);
  gone.abort();
  await assert.rejects(polling);
  await waiting(0);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "kept" }));
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ["All"] }));
  assert.equal(Messages?.[0]?.Attributes?.ApproximateReceiveCount, "1");
});

test("Refusals of SQS carry the code that its SDK knows: a queue that is not there, a bad handle, too many entries", async () => {
  const { cloud, sqs, QueueUrl } = await bed();
  await refused(sqs.send(new GetQueueUrlCommand({ QueueName: "nowhere" })), "QueueDoesNotExist", 400);
  await refused(sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: "x" })), "ReceiptHandleIsInvalid", 400);
  const Entries = Array.from({ length: 11 }, (_, index) => ({ Id: String(index), ReceiptHandle: "x" }));
  await refused(sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries })), "TooManyEntriesInBatchRequest");
  const lift = cloud.controls.deny("sqs:ReceiveMessage");
  await refused(sqs.send(new ReceiveMessageCommand({ QueueUrl })), "AccessDenied", 403);
  lift();
  await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
});

test("A policy can speak of one queue by its ARN", async () => {
  const { cloud, sqs, QueueUrl } = await bed();
  await sqs.send(new CreateQueueCommand({ QueueName: "other" }));
  cloud.controls.change({
    policy: [{ effect: "allow", actions: ["sqs:*"], resources: ["arn:aws:sqs:us-east-1:123456789012:events"] }],
  });
  await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  const other = QueueUrl?.replace("events", "other");
  await refused(sqs.send(new ReceiveMessageCommand({ QueueUrl: other })), "AccessDenied");
});
