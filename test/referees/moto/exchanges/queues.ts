/** Queues of SQS: made, filled, emptied, changed and removed. */
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  TagQueueCommand,
  UntagQueueCommand,
} from "@aws-sdk/client-sqs";
import { asker, type Exchange } from "../script.ts";

const ask = asker("sqs");
const QueueUrl = "$queue";

export const queueExchanges: readonly Exchange[] = [
  ask(
    "a queue with settings and tags",
    CreateQueueCommand,
    { QueueName: "events", Attributes: { VisibilityTimeout: "60", MessageRetentionPeriod: "300" }, tags: { team: "nodes" } },
    { queue: "QueueUrl" },
  ),
  ask("the same queue again", CreateQueueCommand, { QueueName: "events", Attributes: { VisibilityTimeout: "60" } }),
  ask("the same queue with other settings", CreateQueueCommand, { QueueName: "events", Attributes: { VisibilityTimeout: "61" } }),
  ask("a queue whose name has a slash", CreateQueueCommand, { QueueName: "a/b" }),
  ask("the URL of a queue", GetQueueUrlCommand, { QueueName: "events" }),
  ask("the URL of a queue that does not exist", GetQueueUrlCommand, { QueueName: "nothing" }),
  ask("queues by prefix", ListQueuesCommand, { QueueNamePrefix: "ev" }),
  ask("settings of a queue by name", GetQueueAttributesCommand, {
    QueueUrl,
    AttributeNames: ["VisibilityTimeout", "MessageRetentionPeriod", "DelaySeconds", "ReceiveMessageWaitTimeSeconds", "QueueArn"],
  }),
  ask("a setting that there is not", GetQueueAttributesCommand, { QueueUrl, AttributeNames: ["Colour" as "All"] }),
  ask("a setting is changed", SetQueueAttributesCommand, { QueueUrl, Attributes: { VisibilityTimeout: "30" } }),
  ask("the changed setting", GetQueueAttributesCommand, { QueueUrl, AttributeNames: ["VisibilityTimeout"] }),
  ask("the tags of a queue", ListQueueTagsCommand, { QueueUrl }),
  ask("a queue gets another tag", TagQueueCommand, { QueueUrl, Tags: { stage: "test" } }),
  ask("a queue loses a tag", UntagQueueCommand, { QueueUrl, TagKeys: ["team"] }),
  ask("the tags that are left to a queue", ListQueueTagsCommand, { QueueUrl }),

  ask("an empty queue is asked", ReceiveMessageCommand, { QueueUrl }),
  ask("a message is sent", SendMessageCommand, { QueueUrl, MessageBody: "hello" }, { message: "MessageId" }),
  ask(
    "a message is received",
    ReceiveMessageCommand,
    { QueueUrl, MessageSystemAttributeNames: ["ApproximateReceiveCount"] },
    { receipt: "Messages.0.ReceiptHandle" },
  ),
  ask("a message in flight is not received again", ReceiveMessageCommand, { QueueUrl }),
  ask("what a queue counts while a message is in flight", GetQueueAttributesCommand, {
    QueueUrl,
    AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"],
  }),
  ask("a message is given back", ChangeMessageVisibilityCommand, { QueueUrl, ReceiptHandle: "$receipt", VisibilityTimeout: 0 }),
  ask(
    "a message that was given back is received again",
    ReceiveMessageCommand,
    { QueueUrl, MessageSystemAttributeNames: ["ApproximateReceiveCount"] },
    { secondReceipt: "Messages.0.ReceiptHandle" },
  ),
  ask("a message is kept beyond twelve hours", ChangeMessageVisibilityCommand, {
    QueueUrl,
    ReceiptHandle: "$secondReceipt",
    VisibilityTimeout: 43_201,
  }),
  ask("a message is deleted", DeleteMessageCommand, { QueueUrl, ReceiptHandle: "$secondReceipt" }),
  ask("a message is deleted again", DeleteMessageCommand, { QueueUrl, ReceiptHandle: "$secondReceipt" }),
  ask("a message is deleted by no handle of SQS", DeleteMessageCommand, { QueueUrl, ReceiptHandle: "x" }),
  ask("more messages are asked for than SQS gives at once", ReceiveMessageCommand, { QueueUrl, MaxNumberOfMessages: 11 }),
  ask("a longer poll than SQS allows", ReceiveMessageCommand, { QueueUrl, WaitTimeSeconds: 21 }),
  ask("two messages at once", SendMessageBatchCommand, {
    QueueUrl,
    Entries: [
      { Id: "a", MessageBody: "one" },
      { Id: "b", MessageBody: "two" },
    ],
  }),
  ask("two entries of one id", SendMessageBatchCommand, {
    QueueUrl,
    Entries: [
      { Id: "a", MessageBody: "one" },
      { Id: "a", MessageBody: "two" },
    ],
  }),
  ask("a batch of nothing", SendMessageBatchCommand, { QueueUrl, Entries: [] }),
  ask("eleven entries", DeleteMessageBatchCommand, {
    QueueUrl,
    Entries: Array.from({ length: 11 }, (_, index) => ({ Id: `${index}`, ReceiptHandle: "x" })),
  }),
  ask("a queue is emptied", PurgeQueueCommand, { QueueUrl }),
  ask("a message to a queue that does not exist", SendMessageCommand, {
    QueueUrl: "https://sqs.us-east-1.amazonaws.com/123456789012/none",
    MessageBody: "lost",
  }),
  ask("a queue is deleted", DeleteQueueCommand, { QueueUrl }),
  ask("a deleted queue is asked", ReceiveMessageCommand, { QueueUrl }),
];
