/** The queue of the interruptions' world, and how its messages are known again in plans. */
import { messagesOf } from "../../src/sandbox/cloud/sqs/state.ts";
import type { InterruptionWorld } from "../bed/interruption-world.ts";

/** Messages that can be read, in flight or not. */
export function queued({ aws }: InterruptionWorld) {
  const { sqs } = aws.account;
  return messagesOf(sqs, sqs.queues.get("events")!)
    .values()
    .filter(({ body }) => body.startsWith("{"));
}

/** SQS loses every copy of a message. */
export function removeMessages(w: InterruptionWorld, body: string): void {
  const { sqs } = w.aws.account;
  for (const message of queued(w)) if (message.body === body) messagesOf(sqs, sqs.queues.get("events")!).delete(message.id);
}

/** The id of a message as the ids of its events carry it. */
export function eventHex(body: string): string {
  return Buffer.from((JSON.parse(body) as { id?: string }).id ?? "").toString("hex");
}

/** The id of the message in that of an event; none in those of the metadata service. */
export function hexIn(eventId: string): readonly string[] {
  const found = /(?:-event|asg-lifecycle-term)-([0-9a-f]{72})/.exec(eventId)?.[1];
  return found === undefined ? [] : [found];
}
