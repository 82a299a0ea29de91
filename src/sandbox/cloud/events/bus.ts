/** The account's event bus: what AWS's services say of themselves, delivered to queues by rules. */
import type { Account } from "../account.ts";
import { deliver } from "../sqs/messages.ts";
import type { Table } from "../store.ts";
import { queuesFor } from "./bus-rules.ts";

/** An event before it is in its envelope. */
export interface CloudEvent {
  readonly source: string;
  readonly detailType: string;
  /** A list; one kind of AWS's has a plain text. */
  readonly resources: readonly string[] | string;
  readonly detail: object;
}

/**
 * Which events go to a queue: those of any of these sources and, where given, of these types. A rule as a world is furnished with it; those
 * that are made through the API, with patterns and policies, are in `bus-rules.ts`.
 */
export interface Rule {
  readonly name: string;
  readonly sources: readonly string[];
  readonly detailTypes?: readonly string[];
  readonly queueArn: string;
}

/** What the bus needs of the account. */
export type BusAccount = Omit<Account, "ec2">;

/** The rules by name: put there by tests, and by a person at the sandbox. */
export function rules({ store }: BusAccount): Table<Rule> {
  return store.table("events/rules");
}

/** Delivers an event to the queue of each rule that it matches, in the envelope of EventBridge. */
export function emit(account: BusAccount, event: CloudEvent): void {
  const { source, detailType } = event;
  const furnished = rules(account)
    .values()
    .filter(({ sources, detailTypes }) => sources.includes(source) && (detailTypes?.includes(detailType) ?? true))
    .map(({ queueArn }) => queueArn);
  const fields = { source, "detail-type": detailType, detail: event.detail, account: account.id, region: account.region };
  const queues = [...furnished, ...queuesFor(account, fields)];
  if (queues.length === 0) return;
  const body = JSON.stringify(envelope(account, event));
  for (const queueArn of queues) deliver(account.sqs, queueArn, body);
}

/** An event as EventBridge sends it. */
export function envelope(account: BusAccount, { source, detailType, resources, detail }: CloudEvent) {
  return {
    version: "0",
    id: account.ids.uuid(),
    "detail-type": detailType,
    source,
    account: account.id,
    time: account.time
      .date()
      .toISOString()
      .replace(/\.\d+Z$/, "Z"),
    region: account.region,
    resources,
    detail,
  };
}
