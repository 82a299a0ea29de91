/** Attributes of queues: settings as texts, checked and in AWS's names, and what is counted. */
import { ServiceError } from "../errors.ts";
import { invalid } from "./errors.ts";
import { type Message, messagesOf, type Queue, type QueueSettings, type Sqs } from "./state.ts";

/** Attributes as requests and answers carry them. */
export type Attributes = Readonly<Record<string, string>>;

/** A new queue's settings. */
export const DEFAULTS: QueueSettings = {
  visibilityTimeout: 30,
  delay: 0,
  retention: 345_600,
  maxSize: 1_048_576,
  wait: 0,
  redrive: undefined,
  policy: undefined,
  managedEncryption: true,
  kmsKey: undefined,
};

interface Attribute {
  readonly read: (text: string, name: string) => Partial<QueueSettings>;
  /** Undefined: absent from answers. */
  readonly write: (settings: QueueSettings) => string | undefined;
}

const SETTINGS: Readonly<Record<string, Attribute>> = {
  VisibilityTimeout: seconds("visibilityTimeout", 0, 43_200),
  DelaySeconds: seconds("delay", 0, 900),
  MessageRetentionPeriod: seconds("retention", 60, 1_209_600),
  MaximumMessageSize: seconds("maxSize", 1024, 1_048_576),
  ReceiveMessageWaitTimeSeconds: seconds("wait", 0, 20),
  Policy: { read: (policy) => ({ policy: policy || undefined }), write: ({ policy }) => policy },
  RedrivePolicy: {
    read: (text, name) => ({ redrive: text === "" ? undefined : redriveOf(text, name) }),
    write: ({ redrive }) => redrive && JSON.stringify({ deadLetterTargetArn: redrive.targetArn, maxReceiveCount: redrive.maxReceives }),
  },
  SqsManagedSseEnabled: {
    read: (text) => ({ managedEncryption: text === "true" }),
    write: ({ managedEncryption }) => String(managedEncryption),
  },
  KmsMasterKeyId: {
    read: (text) => ({ kmsKey: text || undefined, ...(text && { managedEncryption: false }) }),
    write: ({ kmsKey }) => kmsKey,
  },
};

/** The settings with the attributes of a request laid over them. */
export function withAttributes(settings: QueueSettings, attributes: Attributes | undefined): QueueSettings {
  let changed = settings;
  for (const [name, text] of Object.entries(attributes ?? {})) {
    const attribute = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
    if (attribute === undefined) throw new ServiceError("InvalidAttributeName", `Unknown Attribute ${name}.`);
    changed = { ...changed, ...attribute.read(text, name) };
  }
  return changed;
}

/** The attributes that were asked for by name; `All` is every one. */
export function attributesOf(sqs: Sqs, queue: Queue, names: readonly string[] | undefined): Attributes {
  const counted = countedAttributes(sqs, queue);
  const known = { ...counted, ...Object.fromEntries(Object.entries(SETTINGS).map(([name, { write }]) => [name, write(queue.settings)])) };
  const asked = new Set(names ?? []);
  const unknown = [...asked].find((name) => name !== "All" && !Object.hasOwn(known, name));
  if (unknown !== undefined) throw new ServiceError("InvalidAttributeName", `Unknown Attribute ${unknown}.`);
  const chosen = Object.entries(known).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined && (asked.has("All") || asked.has(entry[0]));
  });
  return Object.fromEntries(chosen);
}

function countedAttributes(sqs: Sqs, queue: Queue): Readonly<Record<string, string>> {
  const now = sqs.account.time.now();
  const alive = messagesOf(sqs, queue)
    .values()
    .filter((message) => !hasExpired(queue, message, now));
  const count = (matches: (message: Message) => boolean) => String(alive.filter(matches).length);
  return {
    QueueArn: queue.arn,
    ApproximateNumberOfMessages: count(({ visible }) => visible <= now),
    ApproximateNumberOfMessagesNotVisible: count(({ visible, receives }) => visible > now && receives > 0),
    ApproximateNumberOfMessagesDelayed: count(({ visible, receives }) => visible > now && receives === 0),
    CreatedTimestamp: String(Math.floor(queue.created / 1000)),
    LastModifiedTimestamp: String(Math.floor(queue.modified / 1000)),
  };
}

/** Whether a queue has kept a message as long as it keeps any, received or not. */
export function hasExpired(queue: Queue, message: Message, now: number): boolean {
  return now >= message.sent + queue.settings.retention * 1000;
}

type NumericSetting = { [K in keyof QueueSettings]: QueueSettings[K] extends number ? K : never }[keyof QueueSettings];

function seconds(setting: NumericSetting, min: number, max: number): Attribute {
  return {
    read: (text, name) => {
      const value = Number(text);
      if (text.trim() === "" || !Number.isInteger(value) || value < min || value > max) throw invalidAttribute(name);
      return { [setting]: value };
    },
    write: (settings) => String(settings[setting]),
  };
}

function redriveOf(text: string, name: string): NonNullable<QueueSettings["redrive"]> {
  let policy: { readonly deadLetterTargetArn?: unknown; readonly maxReceiveCount?: unknown } | null;
  try {
    policy = JSON.parse(text);
  } catch {
    throw invalidAttribute(name);
  }
  const maxReceives = Number(policy?.maxReceiveCount);
  const targetArn = policy?.deadLetterTargetArn;
  if (typeof targetArn !== "string" || !Number.isInteger(maxReceives)) throw invalidAttribute(name);
  if (maxReceives < 1 || maxReceives > 1000)
    throw invalid("RedrivePolicy", text, "Invalid value for maxReceiveCount: must be between 1 and 1000.");
  return { targetArn, maxReceives };
}

function invalidAttribute(name: string): ServiceError {
  return new ServiceError("InvalidAttributeValue", `Invalid value for the parameter ${name}.`);
}
