/** Delegated authentication and authorization: the API server says who a token belongs to and what they may read. */
import type { AccessReviews, User } from "../runtime/access.ts";
import { openGate } from "../runtime/gate.ts";
import { subjectAccessReviews, tokenReviews } from "./builtin.ts";
import type { KubeClient } from "./client.ts";
import { hashed, ReviewAnswers } from "./review-answers.ts";

export interface AccessReviewOptions {
  readonly authenticatedTtlMs?: number;
  readonly authorizedTtlMs?: number;
  readonly unauthorizedTtlMs?: number;
}

const tenSecondsMs = 10_000;

/** Reviews through this API server, remembered for a short while. */
export function accessReviews(base: KubeClient, options: AccessReviewOptions = {}): AccessReviews {
  // A review is sent like a write but changes nothing: it needs no lease, and may be asked twice.
  const client = base.as({ gate: openGate(), limit: { qps: 200, burst: 400 }, timeoutMs: 10_000 });
  const { clock } = base.host.world;
  const { authenticatedTtlMs = tenSecondsMs, authorizedTtlMs = tenSecondsMs, unauthorizedTtlMs = tenSecondsMs } = options;
  const users = new ReviewAnswers<User | undefined>(clock, () => authenticatedTtlMs);
  const verdicts = new ReviewAnswers<boolean>(clock, (allowed) => (allowed ? authorizedTtlMs : unauthorizedTtlMs));
  return {
    authenticate: (token, signal) => users.get(hashed(token), () => reviewToken(client, token, signal)),
    authorize: (user, path, verb, signal) =>
      verdicts.get(hashed(JSON.stringify([user, path, verb])), () => reviewAccess(client, user, path, verb, signal)),
  };
}

async function reviewToken(client: KubeClient, token: string, signal: AbortSignal): Promise<User | undefined> {
  const { status } = await client.create(tokenReviews, { spec: { token } }, { signal, repeatable: true });
  const { username, uid, groups, extra } = status?.user ?? {};
  return status?.authenticated && username ? { name: username, uid, groups: groups ?? [], extra } : undefined;
}

async function reviewAccess(client: KubeClient, user: User, path: string, verb: string, signal: AbortSignal): Promise<boolean> {
  const extra = user.extra && Object.fromEntries(Object.entries(user.extra).map(([key, values]) => [key, [...values]]));
  const spec = { user: user.name, uid: user.uid, groups: [...user.groups], extra, nonResourceAttributes: { path, verb } };
  const { status } = await client.create(subjectAccessReviews, { spec }, { signal, repeatable: true });
  return status?.allowed === true && status.denied !== true;
}
