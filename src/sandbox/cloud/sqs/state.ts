/** What SQS keeps: standard queues by name, and the messages of each. */
import type { Account } from "../account.ts";
import type { Table } from "../store.ts";
import { Arrivals } from "./arrivals.ts";

/** The settings of a queue, in seconds and bytes. */
export interface QueueSettings {
  readonly visibilityTimeout: number;
  readonly delay: number;
  readonly retention: number;
  readonly maxSize: number;
  readonly wait: number;
  /** Where messages go that were received too often. */
  readonly redrive: { readonly targetArn: string; readonly maxReceives: number } | undefined;
  readonly policy: string | undefined;
  readonly managedEncryption: boolean;
  readonly kmsKey: string | undefined;
}

/** A standard queue. */
export interface Queue {
  readonly name: string;
  readonly arn: string;
  readonly settings: QueueSettings;
  readonly created: number;
  readonly modified: number;
  readonly purged: number | undefined;
  readonly tags: Readonly<Record<string, string>>;
}

/** A user's attribute of a message. */
export interface MessageAttribute {
  readonly DataType: string | undefined;
  readonly StringValue?: string | undefined;
  readonly BinaryValue?: Uint8Array | undefined;
}

/** A message. It is in flight while it was received and `visible` lies ahead. */
export interface Message {
  readonly id: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, MessageAttribute>>;
  readonly senderId: string;
  readonly sent: number;
  /** From this moment on it can be received. */
  readonly visible: number;
  readonly receives: number;
  readonly firstReceived: number | undefined;
  readonly lastReceived: number | undefined;
  /** The queue it was taken out of, for a message in a dead-letter queue. */
  readonly sourceArn: string | undefined;
}

/** SQS's tables, and those who wait for messages. */
export interface Sqs {
  readonly account: SqsAccount;
  readonly queues: Table<Queue>;
  /** When queues were deleted, by name. */
  readonly deleted: Table<{ readonly at: number }>;
  readonly arrivals: Arrivals;
}

/** What SQS needs of the account. */
export type SqsAccount = Omit<Account, "ec2" | "sqs">;

/** An SQS with no queues. */
export function createSqs(account: SqsAccount): Sqs {
  const { store } = account;
  return { account, queues: store.table("sqs/queues"), deleted: store.table("sqs/deleted-queues"), arrivals: new Arrivals() };
}

/** The messages of a queue. Those that are kept too long are gone, though nobody has removed them yet. */
export function messagesOf({ account }: Sqs, { name }: Pick<Queue, "name">): Table<Message> {
  return account.store.table(`sqs/messages/${name}`);
}

/** The address of a queue. */
export function queueUrl({ account }: Sqs, name: string): string {
  return `https://sqs.${account.region}.${account.dnsSuffix}/${account.id}/${name}`;
}
