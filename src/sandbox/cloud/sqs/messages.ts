/** Messages on their way: sent, received for a while, kept for longer, deleted, or put aside. */
import { createHash } from "node:crypto";
import { ServiceError } from "../errors.ts";
import { hasExpired } from "./attributes.ts";
import { checkedNumber, invalid } from "./errors.ts";
import { findQueue, queueOfArn } from "./queues.ts";
import { type Message, type MessageAttribute, messagesOf, type Queue, type Sqs } from "./state.ts";

/** The longest that a message can be kept from others, counted from its receipt. */
export const MAX_VISIBILITY_SECONDS = 43_200;
const MAX_DELAY_SECONDS = 900;
const MAX_BATCH = 10;
const MAX_WAIT_SECONDS = 20;
const MAX_IN_FLIGHT = 120_000;

/** A message as SendMessage takes it. */
export interface SentMessage {
  readonly MessageBody: string;
  readonly DelaySeconds?: number;
  readonly MessageAttributes?: Readonly<Record<string, MessageAttribute>>;
}

/** Puts a message into a queue. */
export function sendMessage(sqs: Sqs, input: SentMessage & { readonly QueueUrl: string }, sender = sqs.account.id) {
  return put(sqs, findQueue(sqs, input.QueueUrl), input, sender);
}

/** Puts a message into the queue of an ARN, as other services of AWS do. Without such a queue, or when it is too long for it, it is lost. */
export function deliver(sqs: Sqs, queueArn: string, body: string): void {
  const queue = queueOfArn(sqs, queueArn);
  if (queue !== undefined && Buffer.byteLength(body) <= queue.settings.maxSize) put(sqs, queue, { MessageBody: body }, "AWS");
}

function put(sqs: Sqs, queue: Queue, { MessageBody: body, DelaySeconds, MessageAttributes = {} }: SentMessage, senderId: string) {
  const { ids, time } = sqs.account;
  if (body === "") throw new ServiceError("MissingParameter", "The request must contain the parameter MessageBody.");
  if (Buffer.byteLength(body) > queue.settings.maxSize) {
    throw new ServiceError(
      "InvalidParameterValue",
      `One or more parameters are invalid. Reason: Message must be shorter than ${queue.settings.maxSize} bytes.`,
    );
  }
  const delay = DelaySeconds === undefined ? queue.settings.delay : checkedNumber("DelaySeconds", DelaySeconds, 0, MAX_DELAY_SECONDS);
  const id = ids.uuid();
  const sent = time.now();
  messagesOf(sqs, queue).put(id, {
    id,
    body,
    attributes: MessageAttributes,
    senderId,
    sent,
    visible: sent + delay * 1000,
    receives: 0,
    firstReceived: undefined,
    lastReceived: undefined,
    sourceArn: undefined,
  });
  sqs.arrivals.announce(queue.name);
  return { MessageId: id, MD5OfMessageBody: md5(body) };
}

/** What ReceiveMessage takes. */
export interface ReceiveInput {
  readonly QueueUrl: string;
  readonly MaxNumberOfMessages?: number;
  readonly VisibilityTimeout?: number;
  readonly WaitTimeSeconds?: number;
  readonly AttributeNames?: readonly string[];
  readonly MessageSystemAttributeNames?: readonly string[];
  readonly MessageAttributeNames?: readonly string[];
}

/** Messages that are there at this moment, each with a handle of its own for this receipt. Nobody else sees them for a while. */
export function receiveNow(sqs: Sqs, input: ReceiveInput) {
  const queue = findQueue(sqs, input.QueueUrl);
  const most = checkedNumber("MaxNumberOfMessages", input.MaxNumberOfMessages ?? 1, 1, MAX_BATCH);
  const timeout = checkedNumber(
    "VisibilityTimeout",
    input.VisibilityTimeout ?? queue.settings.visibilityTimeout,
    0,
    MAX_VISIBILITY_SECONDS,
  );
  const now = sqs.account.time.now();
  const messages = messagesOf(sqs, queue);
  for (const message of messages.values()) if (hasExpired(queue, message, now)) messages.delete(message.id);
  const inFlight = messages.values().filter(({ visible, receives }) => visible > now && receives > 0).length;
  if (inFlight >= MAX_IN_FLIGHT)
    throw new ServiceError("OverLimit", `The queue has ${MAX_IN_FLIGHT} messages in flight, the most there can be.`, 403);
  const received: Message[] = [];
  for (const message of messages.values()) {
    if (received.length === most) break;
    if (message.visible > now || setAside(sqs, queue, message)) continue;
    const { receives, firstReceived = now } = message;
    received.push(messages.update(message.id, { receives: receives + 1, firstReceived, lastReceived: now, visible: now + timeout * 1000 }));
  }
  return { Messages: received.map((message) => describe(queue, message, input)) };
}

/** How long a ReceiveMessage waits for a message: as long as it says, or as its queue does. */
export function waitSeconds(sqs: Sqs, input: ReceiveInput): number {
  return checkedNumber("WaitTimeSeconds", input.WaitTimeSeconds ?? findQueue(sqs, input.QueueUrl).settings.wait, 0, MAX_WAIT_SECONDS);
}

/** A message that was received as often as its queue allows goes to the dead-letter queue instead of to one more receiver. */
function setAside(sqs: Sqs, queue: Queue, message: Message): boolean {
  const { redrive } = queue.settings;
  if (redrive === undefined || message.receives < redrive.maxReceives) return false;
  const target = queueOfArn(sqs, redrive.targetArn);
  if (target === undefined) return false;
  messagesOf(sqs, queue).delete(message.id);
  // It keeps its id and the moment it was sent: its time in the dead-letter queue counts from there.
  messagesOf(sqs, target).put(message.id, {
    ...message,
    visible: sqs.account.time.now(),
    receives: 0,
    firstReceived: undefined,
    sourceArn: queue.arn,
  });
  sqs.arrivals.announce(target.name);
  return true;
}

/** Deletes a message. One that is gone already, or has been received again since, is no error; the latter stays. */
export function deleteMessage(sqs: Sqs, input: { readonly QueueUrl: string; readonly ReceiptHandle: string }): void {
  const queue = findQueue(sqs, input.QueueUrl);
  const { id, receives } = readHandle(queue, input.ReceiptHandle);
  const messages = messagesOf(sqs, queue);
  if (messages.get(id)?.receives === receives) messages.delete(id);
}

/** Keeps a message for longer, or gives it back at once. */
export function changeMessageVisibility(
  sqs: Sqs,
  input: { readonly QueueUrl: string; readonly ReceiptHandle: string; readonly VisibilityTimeout: number },
): void {
  const queue = findQueue(sqs, input.QueueUrl);
  const { id, receives } = readHandle(queue, input.ReceiptHandle);
  const timeout = checkedNumber("VisibilityTimeout", input.VisibilityTimeout, 0, MAX_VISIBILITY_SECONDS);
  const messages = messagesOf(sqs, queue);
  const message = messages.get(id);
  const now = sqs.account.time.now();
  if (message === undefined || message.receives !== receives || hasExpired(queue, message, now)) {
    throw invalid("ReceiptHandle", input.ReceiptHandle, "Message does not exist or is not available for visibility timeout change.");
  }
  if (message.visible <= now) throw new ServiceError("MessageNotInflight", `The message ${id} is not in flight.`);
  const visible = now + timeout * 1000;
  if (visible > (message.lastReceived ?? now) + MAX_VISIBILITY_SECONDS * 1000) {
    throw invalid(
      "VisibilityTimeout",
      timeout,
      `Total VisibilityTimeout for the message is beyond the limit [${MAX_VISIBILITY_SECONDS} seconds].`,
    );
  }
  messages.update(id, { visible });
  sqs.arrivals.announce(queue.name);
}

/** A handle names the message and which receipt of it this was. */
function writeHandle(queue: Queue, { id, receives }: Message): string {
  return Buffer.from(JSON.stringify([queue.arn, id, receives])).toString("base64");
}

function readHandle(queue: Queue, handle: string): { readonly id: string; readonly receives: number } {
  try {
    const [of, id, receives] = JSON.parse(Buffer.from(handle, "base64").toString("utf8")) as unknown[];
    if (of === queue.arn && typeof id === "string" && typeof receives === "number") return { id, receives };
  } catch {
    // Falls through: whatever is wrong with a handle, SQS says the same.
  }
  throw new ServiceError("ReceiptHandleIsInvalid", `The input receipt handle "${handle}" is not a valid receipt handle.`);
}

function describe(queue: Queue, message: Message, input: ReceiveInput) {
  const names = new Set([...(input.AttributeNames ?? []), ...(input.MessageSystemAttributeNames ?? [])]);
  const system: Readonly<Record<string, string | undefined>> = {
    SenderId: message.senderId,
    SentTimestamp: String(message.sent),
    ApproximateReceiveCount: String(message.receives),
    ApproximateFirstReceiveTimestamp: String(message.firstReceived),
    DeadLetterQueueSourceArn: message.sourceArn,
  };
  const attributes = Object.entries(system).filter(([name, value]) => value !== undefined && (names.has("All") || names.has(name)));
  const own = Object.entries(message.attributes).filter(([name]) => input.MessageAttributeNames?.some((asked) => isNamed(name, asked)));
  return {
    MessageId: message.id,
    ReceiptHandle: writeHandle(queue, message),
    MD5OfBody: md5(message.body),
    Body: message.body,
    ...(attributes.length > 0 && { Attributes: Object.fromEntries(attributes) as Readonly<Record<string, string>> }),
    ...(own.length > 0 && { MessageAttributes: Object.fromEntries(own) }),
  };
}

/** `All`, `.*`, a name, or a prefix followed by `.*`. */
function isNamed(name: string, asked: string): boolean {
  return asked === "All" || asked === name || (asked.endsWith(".*") && name.startsWith(asked.slice(0, -2)));
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}
