/** Up to ten at once. Each entry succeeds or fails on its own; the call fails only where the batch itself is wrong. */
import { ServiceError } from "../errors.ts";
import { changeMessageVisibility, deleteMessage, type SentMessage, sendMessage } from "./messages.ts";
import { findQueue } from "./queues.ts";
import type { Sqs } from "./state.ts";

const MAX_ENTRIES = 10;
const MAX_BYTES = 1_048_576;

interface Entry {
  readonly Id: string;
}

interface Batch<T extends Entry> {
  readonly QueueUrl: string;
  readonly Entries: readonly T[];
}

/** SendMessageBatch. */
export function sendMessageBatch(sqs: Sqs, input: Batch<Entry & SentMessage>) {
  const bytes = input.Entries.reduce((sum, entry) => sum + Buffer.byteLength(entry.MessageBody), 0);
  if (bytes > MAX_BYTES) throw new ServiceError("BatchRequestTooLong", `Batch requests cannot be longer than ${MAX_BYTES} bytes.`);
  return each(sqs, input, (entry) => sendMessage(sqs, { ...entry, QueueUrl: input.QueueUrl }));
}

/** DeleteMessageBatch. */
export function deleteMessageBatch(sqs: Sqs, input: Batch<Entry & { readonly ReceiptHandle: string }>) {
  return each(sqs, input, ({ ReceiptHandle }) => {
    deleteMessage(sqs, { QueueUrl: input.QueueUrl, ReceiptHandle });
    return {};
  });
}

/** ChangeMessageVisibilityBatch. */
export function changeMessageVisibilityBatch(
  sqs: Sqs,
  input: Batch<Entry & { readonly ReceiptHandle: string; readonly VisibilityTimeout: number }>,
) {
  return each(sqs, input, (entry) => {
    changeMessageVisibility(sqs, { ...entry, QueueUrl: input.QueueUrl });
    return {};
  });
}

function each<T extends Entry, R extends object>(sqs: Sqs, { QueueUrl, Entries: entries }: Batch<T>, act: (entry: T) => R) {
  findQueue(sqs, QueueUrl);
  if (entries.length === 0) throw new ServiceError("EmptyBatchRequest", "There should be at least one entry in the request.");
  if (entries.length > MAX_ENTRIES) {
    throw new ServiceError(
      "TooManyEntriesInBatchRequest",
      `Maximum number of entries per request are ${MAX_ENTRIES}. You have sent ${entries.length}.`,
    );
  }
  const ids = entries.map(({ Id }) => Id);
  if (ids.some((id) => !/^[A-Za-z0-9_-]{1,80}$/.test(id))) {
    throw new ServiceError(
      "InvalidBatchEntryId",
      "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.",
    );
  }
  if (new Set(ids).size < ids.length)
    throw new ServiceError("BatchEntryIdsNotDistinct", "Two or more batch entries in the request have the same Id.");
  const outcomes = entries.map((entry) => {
    try {
      return { done: { Id: entry.Id, ...act(entry) } };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { failed: { Id: entry.Id, Code: error.code, Message: error.message, SenderFault: error.status < 500 } };
    }
  });
  return {
    Successful: outcomes.flatMap(({ done }) => (done === undefined ? [] : [done])),
    Failed: outcomes.flatMap(({ failed }) => (failed === undefined ? [] : [failed])),
  };
}
