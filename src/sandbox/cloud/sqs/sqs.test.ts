import assert from "node:assert/strict";
import { test } from "node:test";
import { cloudBed, refusal } from "../testing.ts";
import type { Attributes } from "./attributes.ts";
import { changeMessageVisibilityBatch, deleteMessageBatch, sendMessageBatch } from "./batches.ts";
import { changeMessageVisibility, deleteMessage, deliver, type ReceiveInput, receiveNow, sendMessage } from "./messages.ts";
import { receiveMessage } from "./polling.ts";
import {
  createQueue,
  deleteQueue,
  getQueueAttributes,
  getQueueUrl,
  listQueues,
  listQueueTags,
  purgeQueue,
  setQueueAttributes,
  tagQueue,
  untagQueue,
} from "./queues.ts";

function bed(attributes: Attributes = {}) {
  const { cloud, world } = cloudBed();
  const { sqs } = cloud.account;
  const { QueueUrl } = createQueue(sqs, { QueueName: "events", Attributes: attributes });
  return {
    sqs,
    world,
    QueueUrl,
    send: (MessageBody: string, DelaySeconds?: number) =>
      sendMessage(sqs, { QueueUrl, MessageBody, ...(DelaySeconds && { DelaySeconds }) }),
    receive: (input: Partial<ReceiveInput> = {}) => receiveNow(sqs, { QueueUrl, MaxNumberOfMessages: 10, ...input }).Messages,
    poll: (input: Partial<ReceiveInput> = {}, signal?: AbortSignal) =>
      receiveMessage(sqs, world.clock, { QueueUrl, WaitTimeSeconds: 20, ...input }, signal),
    count: (name: string) => Number(getQueueAttributes(sqs, { QueueUrl, AttributeNames: ["All"] }).Attributes[name]),
  };
}

const bodies = (messages: readonly { readonly Body: string }[]) => messages.map((message) => message.Body);

test("A received message is hidden for the visibility timeout, then comes again with another handle and a higher count", () => {
  const { send, receive, world, count } = bed();
  send("one");
  const [first] = receive({ VisibilityTimeout: 20, AttributeNames: ["All"] });
  assert.equal(first!.Attributes!.ApproximateReceiveCount, "1");
  assert.deepEqual([receive(), count("ApproximateNumberOfMessagesNotVisible")], [[], 1]);
  world.pass(20_000);
  const [again] = receive({ AttributeNames: ["ApproximateReceiveCount", "SentTimestamp"] });
  assert.equal(again!.MessageId, first!.MessageId);
  assert.notEqual(again!.ReceiptHandle, first!.ReceiptHandle);
  assert.deepEqual(again!.Attributes, { ApproximateReceiveCount: "2", SentTimestamp: String(Date.UTC(2026, 0, 1)) });
});

test("DeleteMessage with the newest handle deletes, with an older one it succeeds and does not; nonsense is ReceiptHandleIsInvalid", () => {
  const { sqs, QueueUrl, send, receive, world } = bed();
  send("one");
  const [first] = receive({ VisibilityTimeout: 1 });
  world.pass(1000);
  const [second] = receive({ VisibilityTimeout: 1 });
  deleteMessage(sqs, { QueueUrl, ReceiptHandle: first!.ReceiptHandle });
  world.pass(1000);
  const [third] = receive({ VisibilityTimeout: 1 });
  assert.equal(third!.MessageId, second!.MessageId);
  // Its time is over, but nobody has received it since: its handle still deletes it.
  world.pass(1000);
  deleteMessage(sqs, { QueueUrl, ReceiptHandle: third!.ReceiptHandle });
  deleteMessage(sqs, { QueueUrl, ReceiptHandle: third!.ReceiptHandle });
  assert.deepEqual(receive(), []);
  refusal(() => deleteMessage(sqs, { QueueUrl, ReceiptHandle: "nonsense" }), "ReceiptHandleIsInvalid");
});

test("ChangeMessageVisibility extends, gives back, and refuses what is gone, not in flight, or kept for more than twelve hours", () => {
  const { sqs, QueueUrl, send, receive, world } = bed();
  const change = (ReceiptHandle: string, VisibilityTimeout: number) =>
    changeMessageVisibility(sqs, { QueueUrl, ReceiptHandle, VisibilityTimeout });
  send("one");
  const [first] = receive({ VisibilityTimeout: 10 });
  world.pass(9000);
  change(first!.ReceiptHandle, 30);
  world.pass(29_000);
  assert.deepEqual(receive(), []);
  refusal(() => change(first!.ReceiptHandle, 43_200), "InvalidParameterValue");
  change(first!.ReceiptHandle, 0);
  refusal(() => change(first!.ReceiptHandle, 10), "MessageNotInflight");
  const [again] = receive();
  refusal(() => change(first!.ReceiptHandle, 10), "InvalidParameterValue");
  deleteMessage(sqs, { QueueUrl, ReceiptHandle: again!.ReceiptHandle });
  refusal(() => change(again!.ReceiptHandle, 10), "InvalidParameterValue");
});

test("A message received too often goes to the dead-letter queue and says where it came from", () => {
  const { sqs, QueueUrl, send, receive, world } = bed();
  const dead = createQueue(sqs, { QueueName: "dead" }).QueueUrl;
  const { QueueArn } = getQueueAttributes(sqs, { QueueUrl: dead, AttributeNames: ["QueueArn"] }).Attributes;
  setQueueAttributes(sqs, {
    QueueUrl,
    Attributes: { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: QueueArn, maxReceiveCount: "2" }) },
  });
  const { MessageId } = send("poison");
  for (const _ of [1, 2]) {
    assert.equal(receive({ VisibilityTimeout: 5 }).length, 1);
    world.pass(5000);
  }
  assert.deepEqual(receive(), []);
  const [put] = receiveNow(sqs, { QueueUrl: dead, AttributeNames: ["All"] }).Messages;
  assert.equal(put!.MessageId, MessageId);
  assert.match(put!.Attributes!.DeadLetterQueueSourceArn!, /:events$/);
});

test("A long poll answers at once when a message arrives, when one becomes visible, and with nothing when its time is over", async () => {
  const { send, poll, sqs, world } = bed();
  const arrival = poll();
  await Promise.resolve();
  assert.equal(sqs.arrivals.size, 1);
  send("one");
  assert.deepEqual(bodies((await arrival).Messages), ["one"]);
  const visible = poll();
  world.pass(20_000);
  assert.deepEqual((await visible).Messages, []);
  world.pass(10_000);
  const again = await poll({ VisibilityTimeout: 5 });
  assert.deepEqual(bodies(again.Messages), ["one"]);
  const third = poll();
  world.pass(5000);
  assert.deepEqual(bodies((await third).Messages), ["one"]);
  assert.deepEqual([sqs.arrivals.size, world.timers()], [0, 0]);
});

test("Of two long polls one gets the message and the other waits on; a caller that gives up takes nothing", async () => {
  const { send, poll, receive, sqs, world } = bed();
  const gaveUp = new AbortController();
  const abandoned = poll({}, gaveUp.signal);
  gaveUp.abort(new Error("gave up"));
  await assert.rejects(abandoned, /gave up/);
  const [one, two] = [poll(), poll()];
  await Promise.resolve();
  send("only");
  const first = await Promise.race([one, two]);
  assert.deepEqual(bodies(first.Messages), ["only"]);
  world.pass(20_000);
  assert.deepEqual(
    (await Promise.all([one, two])).flatMap(({ Messages }) => bodies(Messages)),
    ["only"],
  );
  assert.deepEqual([receive(), sqs.arrivals.size, world.timers()], [[], 0, 0]);
});

test("Delays hide a message before its first receipt, and retention ends it", () => {
  const { send, receive, world, count } = bed({ MessageRetentionPeriod: "60" });
  send("later", 30);
  assert.deepEqual([receive(), count("ApproximateNumberOfMessagesDelayed")], [[], 1]);
  world.pass(30_000);
  assert.deepEqual(bodies(receive({ VisibilityTimeout: 0 })), ["later"]);
  world.pass(30_000);
  assert.deepEqual([receive(), count("ApproximateNumberOfMessages")], [[], 0]);
});

test("QueueDoesNotExist is the answer for unknown queues and other accounts'", () => {
  const { sqs, QueueUrl } = bed();
  const unknown = QueueUrl.replace("events", "nothing");
  refusal(() => sendMessage(sqs, { QueueUrl: unknown, MessageBody: "x" }), "QueueDoesNotExist");
  refusal(() => receiveNow(sqs, { QueueUrl: unknown }), "QueueDoesNotExist");
  refusal(() => receiveNow(sqs, { QueueUrl: QueueUrl.replace("123456789012", "999988887777") }), "QueueDoesNotExist");
  refusal(() => getQueueUrl(sqs, { QueueName: "nothing" }), "QueueDoesNotExist");
  assert.deepEqual(receiveNow(sqs, { QueueUrl: "http://127.0.0.1:5061/123456789012/events" }).Messages, []);
});

test("Numbers out of range are refused: messages, wait, visibility, delay; and a body that is too long or empty", async () => {
  const { sqs, QueueUrl, poll } = bed({ MaximumMessageSize: "1024" });
  refusal(() => receiveNow(sqs, { QueueUrl, MaxNumberOfMessages: 11 }), "InvalidParameterValue");
  refusal(() => receiveNow(sqs, { QueueUrl, VisibilityTimeout: 43_201 }), "InvalidParameterValue");
  await assert.rejects(poll({ WaitTimeSeconds: 21 }), { code: "InvalidParameterValue" });
  refusal(() => sendMessage(sqs, { QueueUrl, MessageBody: "x", DelaySeconds: 901 }), "InvalidParameterValue");
  refusal(() => sendMessage(sqs, { QueueUrl, MessageBody: "x".repeat(1025) }), "InvalidParameterValue");
  refusal(() => sendMessage(sqs, { QueueUrl, MessageBody: "" }), "MissingParameter");
});

test("Batches: each entry on its own; too many, none, equal and bad ids refuse the whole", () => {
  const { sqs, QueueUrl, receive } = bed();
  const Entries = Array.from({ length: 10 }, (_, index) => ({ Id: `m${index}`, MessageBody: `${index}` }));
  assert.equal(sendMessageBatch(sqs, { QueueUrl, Entries }).Successful.length, 10);
  refusal(
    () => sendMessageBatch(sqs, { QueueUrl, Entries: [...Entries, { Id: "m10", MessageBody: "10" }] }),
    "TooManyEntriesInBatchRequest",
  );
  refusal(() => sendMessageBatch(sqs, { QueueUrl, Entries: [] }), "EmptyBatchRequest");
  refusal(() => sendMessageBatch(sqs, { QueueUrl, Entries: [Entries[0]!, Entries[0]!] }), "BatchEntryIdsNotDistinct");
  refusal(() => sendMessageBatch(sqs, { QueueUrl, Entries: [{ Id: "a b", MessageBody: "x" }] }), "InvalidBatchEntryId");
  const [one, two] = receive();
  const { Successful, Failed } = deleteMessageBatch(sqs, {
    QueueUrl,
    Entries: [
      { Id: "good", ReceiptHandle: one!.ReceiptHandle },
      { Id: "bad", ReceiptHandle: "nonsense" },
    ],
  });
  assert.deepEqual([Successful, Failed.map(({ Id, Code }) => [Id, Code])], [[{ Id: "good" }], [["bad", "ReceiptHandleIsInvalid"]]]);
  const back = changeMessageVisibilityBatch(sqs, {
    QueueUrl,
    Entries: [{ Id: "b", ReceiptHandle: two!.ReceiptHandle, VisibilityTimeout: 0 }],
  });
  assert.equal(back.Failed.length, 0);
  assert.deepEqual(bodies(receive()), [two!.Body]);
});

test("CreateQueue again is no error, with other attributes it is; a name rests for a minute after its queue is deleted", () => {
  const { sqs, QueueUrl, world, send } = bed({ VisibilityTimeout: "20" });
  assert.equal(createQueue(sqs, { QueueName: "events" }).QueueUrl, QueueUrl);
  createQueue(sqs, { QueueName: "events", Attributes: { VisibilityTimeout: "20" } });
  refusal(() => createQueue(sqs, { QueueName: "events", Attributes: { VisibilityTimeout: "21" } }), "QueueNameExists");
  send("gone with its queue");
  deleteQueue(sqs, { QueueUrl });
  refusal(() => deleteQueue(sqs, { QueueUrl }), "QueueDoesNotExist");
  refusal(() => createQueue(sqs, { QueueName: "events" }), "QueueDeletedRecently");
  world.pass(60_000);
  createQueue(sqs, { QueueName: "events" });
  assert.deepEqual(receiveNow(sqs, { QueueUrl }).Messages, []);
  refusal(() => createQueue(sqs, { QueueName: "no.dots" }), "InvalidParameterValue");
});

test("Attributes are texts within their ranges; unknown names and a dead-letter queue that is not there are refused", () => {
  const { sqs, QueueUrl } = bed();
  const set = (Attributes: Attributes) => setQueueAttributes(sqs, { QueueUrl, Attributes });
  const { Attributes } = getQueueAttributes(sqs, { QueueUrl, AttributeNames: ["VisibilityTimeout", "QueueArn"] });
  assert.deepEqual(Attributes, { VisibilityTimeout: "30", QueueArn: "arn:aws:sqs:us-east-1:123456789012:events" });
  assert.deepEqual(getQueueAttributes(sqs, { QueueUrl }).Attributes, {});
  refusal(() => set({ VisibilityTimeout: "43201" }), "InvalidAttributeValue");
  refusal(() => set({ MessageRetentionPeriod: "59" }), "InvalidAttributeValue");
  refusal(() => set({ Nonsense: "1" }), "InvalidAttributeName");
  refusal(() => getQueueAttributes(sqs, { QueueUrl, AttributeNames: ["Nonsense"] }), "InvalidAttributeName");
  refusal(() => set({ RedrivePolicy: "{" }), "InvalidAttributeValue");
  const missing = { deadLetterTargetArn: "arn:aws:sqs:us-east-1:123456789012:nothing", maxReceiveCount: 3 };
  refusal(() => set({ RedrivePolicy: JSON.stringify(missing) }), "InvalidParameterValue");
});

test("Queues are listed by prefix and page, purged once a minute, and tagged", () => {
  const { sqs, QueueUrl, send, receive, world } = bed();
  for (const QueueName of ["a-1", "a-2", "b-1"]) createQueue(sqs, { QueueName });
  const names = (urls: readonly string[]) => urls.map((url) => url.split("/").at(-1));
  assert.deepEqual(names(listQueues(sqs, { QueueNamePrefix: "a-" }).QueueUrls), ["a-1", "a-2"]);
  const page = listQueues(sqs, { MaxResults: 3 });
  assert.deepEqual(names(page.QueueUrls), ["a-1", "a-2", "b-1"]);
  assert.deepEqual(names(listQueues(sqs, { MaxResults: 3, NextToken: page.NextToken! }).QueueUrls), ["events"]);
  send("one");
  purgeQueue(sqs, { QueueUrl });
  assert.deepEqual(receive(), []);
  refusal(() => purgeQueue(sqs, { QueueUrl }), "PurgeQueueInProgress");
  world.pass(60_000);
  purgeQueue(sqs, { QueueUrl });
  tagQueue(sqs, { QueueUrl, Tags: { a: "1", b: "2" } });
  untagQueue(sqs, { QueueUrl, TagKeys: ["a"] });
  assert.deepEqual(listQueueTags(sqs, { QueueUrl }).Tags, { b: "2" });
});

test("Message attributes are given out by name, by prefix, or all; services deliver by ARN", () => {
  const { sqs, QueueUrl, receive } = bed();
  const MessageAttributes = { "a.x": { DataType: "String", StringValue: "1" }, b: { DataType: "String", StringValue: "2" } };
  sendMessage(sqs, { QueueUrl, MessageBody: "one", MessageAttributes });
  const seen = (...MessageAttributeNames: string[]) =>
    Object.keys(receive({ VisibilityTimeout: 0, MessageAttributeNames })[0]!.MessageAttributes ?? {});
  assert.deepEqual([seen(), seen("a.*"), seen("b"), seen("All")], [[], ["a.x"], ["b"], ["a.x", "b"]]);
  deliver(sqs, "arn:aws:sqs:us-east-1:123456789012:events", "two");
  deliver(sqs, "arn:aws:sqs:us-east-1:123456789012:nothing", "lost");
  assert.deepEqual(bodies(receive()), ["one", "two"]);
});

test("A service's message that is too long for its queue is lost, and the service goes on", () => {
  const { sqs } = bed();
  const { QueueUrl } = createQueue(sqs, { QueueName: "narrow", Attributes: { MaximumMessageSize: "1024" } });
  deliver(sqs, "arn:aws:sqs:us-east-1:123456789012:narrow", "x".repeat(1025));
  deliver(sqs, "arn:aws:sqs:us-east-1:123456789012:narrow", "short");
  assert.deepEqual(
    receiveNow(sqs, { QueueUrl, MaxNumberOfMessages: 10 }).Messages.map(({ Body }) => Body),
    ["short"],
  );
});
