/** Queues: making, finding, changing and removing them. */
import { arn } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { type Attributes, attributesOf, DEFAULTS, withAttributes } from "./attributes.ts";
import { invalid } from "./errors.ts";
import { messagesOf, type Queue, queueUrl, type Sqs } from "./state.ts";

/** A name is free again this long after its queue was deleted; a queue can be purged this often. */
const PAUSE_MS = 60_000;
const MAX_LISTED = 1000;

/** Makes a queue; the same queue again is no error, one of that name with other attributes is. */
export function createQueue(
  sqs: Sqs,
  input: { readonly QueueName: string; readonly Attributes?: Attributes; readonly tags?: Readonly<Record<string, string>> },
): { readonly QueueUrl: string } {
  const { QueueName: name } = input;
  if (!/^[A-Za-z0-9_-]{1,80}$/.test(name)) {
    throw invalid("QueueName", name, "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length.");
  }
  const now = sqs.account.time.now();
  const existing = sqs.queues.get(name);
  if (existing !== undefined) {
    checkSame(existing, input.Attributes);
    return { QueueUrl: queueUrl(sqs, name) };
  }
  const deleted = sqs.deleted.get(name);
  if (deleted !== undefined && now - deleted.at < PAUSE_MS) {
    throw new ServiceError(
      "QueueDeletedRecently",
      "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
    );
  }
  const settings = withAttributes(DEFAULTS, input.Attributes);
  checkRedrive(sqs, settings.redrive?.targetArn);
  sqs.queues.put(name, {
    name,
    arn: arn(sqs.account, "sqs", name),
    settings,
    created: now,
    modified: now,
    purged: undefined,
    tags: input.tags ?? {},
  });
  return { QueueUrl: queueUrl(sqs, name) };
}

/** The queue of a URL. Only the last two parts of the path count: callers may reach SQS by another host. */
export function findQueue(sqs: Sqs, url: string): Queue {
  const [account, name = ""] = url.split("/").slice(-2);
  const queue = account === sqs.account.id ? sqs.queues.get(name) : undefined;
  if (queue === undefined) throw new ServiceError("QueueDoesNotExist", "The specified queue does not exist.");
  return queue;
}

/** The queue of an ARN, or undefined. */
export function queueOfArn(sqs: Sqs, queueArn: string): Queue | undefined {
  const queue = sqs.queues.get(queueArn.split(":").at(-1) ?? "");
  return queue?.arn === queueArn ? queue : undefined;
}

export function getQueueUrl(sqs: Sqs, input: { readonly QueueName: string; readonly QueueOwnerAWSAccountId?: string }) {
  const { QueueName: name, QueueOwnerAWSAccountId: owner = sqs.account.id } = input;
  return { QueueUrl: queueUrl(sqs, findQueue(sqs, `${owner}/${name}`).name) };
}

export function listQueues(
  sqs: Sqs,
  input: { readonly QueueNamePrefix?: string; readonly MaxResults?: number; readonly NextToken?: string },
) {
  const { QueueNamePrefix: prefix = "", MaxResults: most, NextToken: after } = input;
  if (most !== undefined && (most < 1 || most > MAX_LISTED)) throw invalid("MaxResults", most, `Must be between 1 and ${MAX_LISTED}.`);
  const names = sqs.queues
    .values()
    .map((queue) => queue.name)
    .filter((name) => name.startsWith(prefix) && (after === undefined || name > after))
    .sort();
  const page = names.slice(0, most ?? MAX_LISTED);
  // Without a page size SQS gives the first thousand and no token.
  return {
    QueueUrls: page.map((name) => queueUrl(sqs, name)),
    NextToken: most !== undefined && page.length < names.length ? page.at(-1) : undefined,
  };
}

export function getQueueAttributes(sqs: Sqs, input: { readonly QueueUrl: string; readonly AttributeNames?: readonly string[] }) {
  return { Attributes: attributesOf(sqs, findQueue(sqs, input.QueueUrl), input.AttributeNames) };
}

export function setQueueAttributes(sqs: Sqs, input: { readonly QueueUrl: string; readonly Attributes: Attributes }): void {
  const queue = findQueue(sqs, input.QueueUrl);
  const settings = withAttributes(queue.settings, input.Attributes);
  checkRedrive(sqs, settings.redrive?.targetArn);
  sqs.queues.update(queue.name, { settings, modified: sqs.account.time.now() });
}

/** A queue goes with all its messages. */
export function deleteQueue(sqs: Sqs, input: { readonly QueueUrl: string }): void {
  const queue = findQueue(sqs, input.QueueUrl);
  clear(sqs, queue);
  sqs.queues.delete(queue.name);
  sqs.deleted.put(queue.name, { at: sqs.account.time.now() });
  sqs.arrivals.announce(queue.name);
}

/** Removes all messages, those in flight too. */
export function purgeQueue(sqs: Sqs, input: { readonly QueueUrl: string }): void {
  const queue = findQueue(sqs, input.QueueUrl);
  const now = sqs.account.time.now();
  if (queue.purged !== undefined && now - queue.purged < PAUSE_MS) {
    throw new ServiceError("PurgeQueueInProgress", `Only one PurgeQueue operation on ${queue.name} is allowed every 60 seconds.`);
  }
  clear(sqs, queue);
  sqs.queues.update(queue.name, { purged: now });
}

export function tagQueue(sqs: Sqs, input: { readonly QueueUrl: string; readonly Tags: Readonly<Record<string, string>> }): void {
  const queue = findQueue(sqs, input.QueueUrl);
  sqs.queues.update(queue.name, { tags: { ...queue.tags, ...input.Tags } });
}

export function untagQueue(sqs: Sqs, input: { readonly QueueUrl: string; readonly TagKeys: readonly string[] }): void {
  const queue = findQueue(sqs, input.QueueUrl);
  const tags = Object.fromEntries(Object.entries(queue.tags).filter(([key]) => !input.TagKeys.includes(key)));
  sqs.queues.update(queue.name, { tags });
}

export function listQueueTags(sqs: Sqs, input: { readonly QueueUrl: string }) {
  return { Tags: findQueue(sqs, input.QueueUrl).tags };
}

function clear(sqs: Sqs, queue: Queue): void {
  const messages = messagesOf(sqs, queue);
  for (const { id } of messages.values()) messages.delete(id);
}

/** Only the attributes that are given must be as they are. */
function checkSame(queue: Queue, attributes: Attributes | undefined): void {
  const asked = withAttributes(queue.settings, attributes);
  if (JSON.stringify(asked) === JSON.stringify(queue.settings)) return;
  throw new ServiceError("QueueNameExists", `A queue named ${queue.name} already exists with different attributes.`);
}

function checkRedrive(sqs: Sqs, targetArn: string | undefined): void {
  if (targetArn === undefined || queueOfArn(sqs, targetArn) !== undefined) return;
  throw invalid("RedrivePolicy", targetArn, "Dead letter target does not exist or you do not have permission to access it.");
}
