/** One queue of SQS: messages received, kept from others while they are worked on, and deleted, ten at a time. */
import type { Clock } from "../runtime/world.ts";
import type { Cloud } from "./cloud.ts";
import { changeMessageVisibilityBatch, deleteMessageBatch, receiveMessage } from "./queue-actions.ts";

/** A message as it was received. */
export interface QueueMessage {
  readonly id: string;
  readonly receipt: string;
  readonly body: string;
  /** How often it has been received, this time included. */
  readonly receives: number;
  readonly sentAt: number | undefined;
}

/** What became of one message of a batch. */
export interface MessageFailure {
  readonly id: string;
  readonly code: string;
  readonly message: string;
}

const waitSeconds = 20;
const perCall = 10;

/** A queue by its URL. */
export class Queue {
  readonly url: string;
  readonly #cloud: Cloud;
  readonly #cause: string;

  constructor(cloud: Cloud, url: string, cause: string) {
    this.#cloud = cloud;
    this.url = url;
    this.#cause = cause;
  }

  /** Waits for messages, up to twenty seconds. Others do not see them for so many seconds. */
  async receive(visibilitySeconds: number, signal: AbortSignal): Promise<readonly QueueMessage[]> {
    const { Messages = [] } = await this.#cloud.call(
      receiveMessage,
      {
        QueueUrl: this.url,
        MaxNumberOfMessages: perCall,
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ["SentTimestamp", "ApproximateReceiveCount"],
        MessageAttributeNames: ["All"],
      },
      { cause: this.#cause, signal, urgency: "user" },
    );
    return Messages.map(({ MessageId = "", ReceiptHandle = "", Body = "", Attributes = {} }) => ({
      id: MessageId,
      receipt: ReceiptHandle,
      body: Body,
      receives: Number(Attributes.ApproximateReceiveCount ?? 1),
      sentAt: Attributes.SentTimestamp === undefined ? undefined : Number(Attributes.SentTimestamp),
    }));
  }

  /** Keeps messages from others for so many seconds from now; 0 gives them back. Answers those that SQS did not let. */
  async keep(messages: readonly QueueMessage[], seconds: number, signal: AbortSignal): Promise<readonly MessageFailure[]> {
    return this.#each(messages, async (batch) => {
      const Entries = batch.map(({ receipt }, index) => ({ Id: String(index), ReceiptHandle: receipt, VisibilityTimeout: seconds }));
      const { Failed } = await this.#cloud.call(
        changeMessageVisibilityBatch,
        { QueueUrl: this.url, Entries },
        { cause: this.#cause, signal, target: `${batch.length} messages`, repeatable: true },
      );
      return Failed;
    });
  }

  /** Deletes messages. Answers those that SQS did not delete. */
  async delete(messages: readonly QueueMessage[], signal: AbortSignal): Promise<readonly MessageFailure[]> {
    return this.#each(messages, async (batch) => {
      const Entries = batch.map(({ receipt }, index) => ({ Id: String(index), ReceiptHandle: receipt }));
      const { Failed } = await this.#cloud.call(
        deleteMessageBatch,
        { QueueUrl: this.url, Entries },
        { cause: this.#cause, signal, urgency: "user", target: `${batch.length} messages`, repeatable: true },
      );
      return Failed;
    });
  }

  async #each(
    messages: readonly QueueMessage[],
    send: (batch: readonly QueueMessage[]) => Promise<readonly Failed[] | undefined>,
  ): Promise<readonly MessageFailure[]> {
    const failures: MessageFailure[] = [];
    for (let at = 0; at < messages.length; at += perCall) {
      const batch = messages.slice(at, at + perCall);
      for (const { Id, Code = "", Message = "" } of (await send(batch)) ?? []) {
        failures.push({ id: batch[Number(Id)]!.id, code: Code, message: Message });
      }
    }
    return failures;
  }
}

interface Failed {
  readonly Id: string | undefined;
  readonly Code?: string | undefined;
  readonly Message?: string | undefined;
}

/** Collects what comes within a moment, so that it goes in as few calls as possible. */
export class Gathering<T> {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #flush: (items: readonly T[]) => void;
  #items: T[] = [];

  constructor(clock: Clock, ms: number, flush: (items: readonly T[]) => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#flush = flush;
  }

  add(item: T): void {
    this.#items.push(item);
    if (this.#items.length > 1) return;
    this.#clock.after(this.#ms, () => {
      const items = this.#items;
      this.#items = [];
      this.#flush(items);
    });
  }
}
