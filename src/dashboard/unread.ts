/** Why objects are missing from the page: a watch that fails is taken up again and again, and says nothing to who looks. */
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { Informer } from "../kube/informer.ts";
import type { KubeObject, Resource } from "../kube/resource.ts";
import type { Identified } from "../kube/store.ts";
import { messageOf } from "../runtime/message-of.ts";
import { redact } from "../runtime/redact.ts";
import type { Clock } from "../runtime/world.ts";
import type { Trouble } from "./trouble.ts";

/** A resource, and who follows it. */
export interface Followed {
  readonly of: Resource<KubeObject>;
  readonly namespace?: string;
  readonly by: Pick<Informer<Identified>, "name" | "run" | "hasSynced" | "staleSinceMs">;
}

/** A watch that is taken up again is down for a moment. */
const graceMs = 3_000;
const answerMs = 5_000;

/** Asks for one object of each resource whose watch is down, and tells what is said to that. */
export function unreadObjects(
  kube: Pick<KubeClient, "page">,
  followed: readonly Followed[],
  clock: Clock,
): (signal: AbortSignal) => Promise<readonly Trouble[]> {
  const begun = clock.now();
  const unknown = new Set<string>();
  const ask = async ({ of, namespace, by }: Followed, signal: AbortSignal): Promise<readonly Trouble[]> => {
    try {
      await kube.page(of, { limit: 1, signal, timeoutMs: answerMs, ...(namespace !== undefined && { namespace }) }, () => undefined);
      return [];
    } catch (error) {
      if (signal.aborted) return [];
      if (!isUnknown(error)) return [trouble(by.name, error, by.staleSinceMs ?? begun, clock.now())];
      // A kind that the cluster does not have is not missed; its watch finds out when it comes.
      unknown.add(by.name);
      return [];
    }
  };
  return async (signal) => {
    const now = clock.now();
    const isDown = ({ by }: Followed) => now - (by.staleSinceMs ?? (by.hasSynced ? now : begun)) > graceMs;
    const down = followed.filter((each) => isDown(each) && (each.by.hasSynced || !unknown.has(each.by.name)));
    const found = await Promise.all(down.map((each) => ask(each, signal)));
    // The API server itself is named once, however many kinds cannot be read.
    return [...new Map(found.flat().map((each) => [each.id, each])).values()];
  };
}

/** The API of the sandbox says that it does not do a kind; others, that there is no such path. */
function isUnknown(error: unknown): boolean {
  return isApiError(error, "not-found") || (isApiError(error) && error.status === 501);
}

function trouble(name: string, error: unknown, since: number, now: number): Trouble {
  const common = { message: redact(messageOf(error)), count: 1, since, last: now };
  return isApiError(error, "forbidden")
    ? {
        ...common,
        id: `unread ${name}`,
        title: "Objects cannot be read",
        remedy: `They are missing from the page. Your account needs list and watch on ${name}.`,
      }
    : {
        ...common,
        id: "unread",
        title: "The API server does not answer as it should",
        remedy: "What is shown of objects may be old. Look at the API server, and at what is between it and you.",
      };
}
