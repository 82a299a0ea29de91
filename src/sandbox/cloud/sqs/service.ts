/** Amazon SQS on the wire: standard queues, over JSON. */
import {
  ChangeMessageVisibility$,
  ChangeMessageVisibilityBatch$,
  CreateQueue$,
  DeleteMessage$,
  DeleteMessageBatch$,
  DeleteQueue$,
  GetQueueAttributes$,
  GetQueueUrl$,
  ListQueues$,
  ListQueueTags$,
  PurgeQueue$,
  ReceiveMessage$,
  SendMessage$,
  SendMessageBatch$,
  SetQueueAttributes$,
  TagQueue$,
  UntagQueue$,
} from "@aws-sdk/client-sqs";
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { json, type Protocol } from "../protocol/protocol.ts";
import { longPoll, read, type Service, write } from "../service.ts";
import { changeMessageVisibilityBatch, deleteMessageBatch, sendMessageBatch } from "./batches.ts";
import { QUERY_CODES } from "./errors.ts";
import { changeMessageVisibility, deleteMessage, type ReceiveInput, type SentMessage, sendMessage } from "./messages.ts";
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

/** Amazon SQS. */
export function sqsService({ sqs }: Account): Service {
  return {
    name: "sqs",
    signingName: "sqs",
    address: { target: "AmazonSQS" },
    region: "own",
    protocol: queueProtocol(),
    operations: [
      write<Parameters<typeof createQueue>[1], unknown>(CreateQueue$, (input) => createQueue(sqs, input), needsTagQueue),
      read<Parameters<typeof getQueueUrl>[1], unknown>(GetQueueUrl$, (input) => getQueueUrl(sqs, input)),
      read<Parameters<typeof listQueues>[1], unknown>(ListQueues$, (input) => listQueues(sqs, input)),
      read<Parameters<typeof getQueueAttributes>[1], unknown>(GetQueueAttributes$, (input) => getQueueAttributes(sqs, input)),
      write<Parameters<typeof setQueueAttributes>[1], void>(SetQueueAttributes$, (input) => setQueueAttributes(sqs, input)),
      write<Parameters<typeof deleteQueue>[1], void>(DeleteQueue$, (input) => deleteQueue(sqs, input)),
      write<Parameters<typeof purgeQueue>[1], void>(PurgeQueue$, (input) => purgeQueue(sqs, input)),
      write<Parameters<typeof tagQueue>[1], void>(TagQueue$, (input) => tagQueue(sqs, input)),
      write<Parameters<typeof untagQueue>[1], void>(UntagQueue$, (input) => untagQueue(sqs, input)),
      read<Parameters<typeof listQueueTags>[1], unknown>(ListQueueTags$, (input) => listQueueTags(sqs, input)),
      write<SentMessage & { readonly QueueUrl: string }, unknown>(SendMessage$, (input, call) =>
        sendMessage(sqs, input, call.principal.userId),
      ),
      {
        ...write<Parameters<typeof sendMessageBatch>[1], unknown>(SendMessageBatch$, (input) => sendMessageBatch(sqs, input)),
        permission: "sqs:SendMessage",
      },
      longPoll<ReceiveInput, unknown>(ReceiveMessage$, (input, { clock, signal }) => receiveMessage(sqs, clock, input, signal)),
      write<Parameters<typeof deleteMessage>[1], void>(DeleteMessage$, (input) => deleteMessage(sqs, input)),
      {
        ...write<Parameters<typeof deleteMessageBatch>[1], unknown>(DeleteMessageBatch$, (input) => deleteMessageBatch(sqs, input)),
        permission: "sqs:DeleteMessage",
      },
      write<Parameters<typeof changeMessageVisibility>[1], void>(ChangeMessageVisibility$, (input) => changeMessageVisibility(sqs, input)),
      {
        ...write<Parameters<typeof changeMessageVisibilityBatch>[1], unknown>(ChangeMessageVisibilityBatch$, (input) =>
          changeMessageVisibilityBatch(sqs, input),
        ),
        permission: "sqs:ChangeMessageVisibility",
      },
    ],
  };
}

/** A queue that is made with tags needs the permission to tag it. */
function needsTagQueue({ tags }: { readonly tags?: Readonly<Record<string, string>> }): readonly string[] {
  return Object.keys(tags ?? {}).length === 0 ? [] : ["sqs:TagQueue"];
}

/** JSON 1.0, with the codes of the older query protocol in a header for clients that know only those. */
function queueProtocol(): Protocol {
  const protocol = json("1.0");
  return {
    ...protocol,
    refusals: {
      ...protocol.refusals,
      throttled: () => new ServiceError("RequestThrottled", "Rate exceeded", 403),
      denied: (...why) => {
        const { code, message } = protocol.refusals.denied(...why);
        return new ServiceError(code, message, 403);
      },
    },
    fail(error, requestId) {
      const answer = protocol.fail(error, requestId);
      const code = QUERY_CODES[error.code] ?? error.code;
      return { ...answer, headers: { ...answer.headers, "x-amzn-query-error": `${code};${error.status < 500 ? "Sender" : "Receiver"}` } };
    },
  };
}
