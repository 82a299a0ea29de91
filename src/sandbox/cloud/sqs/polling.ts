/** The long poll: a ReceiveMessage that waits until there is something to receive. */
import type { Clock } from "../../../runtime/world.ts";
import { type ReceiveInput, receiveNow, waitSeconds } from "./messages.ts";
import { findQueue } from "./queues.ts";
import { messagesOf, type Sqs } from "./state.ts";

/** Receives what is there, or waits for it up to the time the call or its queue says. A caller that gives up receives nothing. */
export async function receiveMessage(sqs: Sqs, clock: Clock, input: ReceiveInput, signal?: AbortSignal) {
  const { store, time } = sqs.account;
  time.settle();
  const deadline = clock.now() + waitSeconds(sqs, input) * 1000;
  for (;;) {
    signal?.throwIfAborted();
    time.settle();
    const answer = store.attempt(() => receiveNow(sqs, input));
    if (answer.Messages.length > 0 || clock.now() >= deadline) return answer;
    await somethingNew(sqs, clock, input.QueueUrl, deadline, signal);
  }
}

/** Until a message arrives, one becomes visible, or the time is over. */
function somethingNew(sqs: Sqs, clock: Clock, url: string, deadline: number, signal: AbortSignal | undefined): Promise<void> {
  const queue = findQueue(sqs, url);
  const now = clock.now();
  const ahead = messagesOf(sqs, queue)
    .values()
    .map(({ visible }) => visible)
    .filter((visible) => visible > now);
  const wake = Math.min(deadline, ...ahead, sqs.account.time.next() ?? deadline);
  return new Promise((resolve) => {
    const done = () => {
      cancelTimer();
      cancelArrival();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancelTimer = clock.after(Math.max(0, wake - now), done);
    const cancelArrival = sqs.arrivals.next(queue.name, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}
