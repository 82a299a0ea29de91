/** Who we are to AWS: keys that may expire, and where newer ones come from. */
import { rememberSecret } from "../runtime/known-secrets.ts";
import { TimedOut, type World, within } from "../runtime/world.ts";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Wall-clock milliseconds; keys without it do not expire. */
  readonly expiresAt?: number;
}

export interface CredentialSource {
  /** Valid credentials, obtained anew when the last ones are about to expire. */
  get(signal: AbortSignal): Promise<Credentials>;
  /** AWS called these expired, whatever their date says: the next `get` obtains new ones. */
  expired(credentials: Credentials): void;
}

/** No credentials could be obtained. The message says where they were looked for. */
export class CredentialsUnavailable extends Error {
  override readonly name = "CredentialsUnavailable";
}

/** Requests that carry their own proof and are not signed. */
export const anonymous: CredentialSource = {
  get: async () => ({ accessKeyId: "", secretAccessKey: "" }),
  expired() {},
};

const renewBeforeMs = 5 * 60_000;
const maxPauseMs = 60_000;
const minPauseMs = 1_000;
/** How long newer keys are waited for while the old ones still work: as long as a source that is well takes at most. */
const patienceMs = 10_000;
/** Whatever the source does: an external process, a file system that hangs, a role whose assumption is throttled. */
const obtainLimitMs = 120_000;

/**
 * Keeps what `obtain` gives until shortly before it expires. Everybody who asks meanwhile shares one request, and is held up
 * by it only when the old keys do not work any more.
 */
export function kept(world: World, obtain: (signal: AbortSignal) => Promise<Credentials>): CredentialSource {
  const { clock } = world;
  // Not everybody renews in the same second.
  const renewEarlierMs = renewBeforeMs + world.random.number() * 60_000;
  let current: Credentials | undefined;
  let pending: Promise<Credentials> | undefined;
  let failure: { readonly error: unknown } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const leftMs = (credentials: Credentials) => (credentials.expiresAt ?? Number.POSITIVE_INFINITY) - clock.now();
  const renew = async (): Promise<Credentials> => {
    try {
      current = await within(clock, obtainLimitMs, "AWS credentials", undefined, obtain);
      rememberSecret(current.secretAccessKey);
      rememberSecret(current.sessionToken);
      failure = undefined;
      return current;
    } catch (error) {
      failure = { error };
      // Old keys that still work are better than none; the failure comes to light when they do not.
      if (current !== undefined && leftMs(current) > 0) return current;
      throw error;
    } finally {
      pending = undefined;
      triedAt = clock.monotonic();
    }
  };

  return {
    async get(signal) {
      signal.throwIfAborted();
      const left = current === undefined ? 0 : leftMs(current);
      if (current !== undefined && left > renewEarlierMs) return current;
      if (pending !== undefined) return current !== undefined && left > 0 ? current : pending;
      // The metadata service hands out the same keys until shortly before they expire: asking at every call changes nothing.
      const pauseMs = Math.max(minPauseMs, Math.min(maxPauseMs, left / 4));
      const tried = clock.monotonic() - triedAt < pauseMs;
      if (tried && current !== undefined && left > 0) return current;
      if (tried && failure !== undefined) throw failure.error;
      const renewal = renew();
      pending = renewal;
      if (left <= 0) return renewal;
      return within(clock, patienceMs, "newer AWS credentials", undefined, () => renewal).catch((error: unknown) => {
        const worksStill = error instanceof TimedOut && current !== undefined && leftMs(current) > 0;
        return worksStill ? current! : renewal;
      });
    },
    expired(credentials) {
      if (current?.accessKeyId === credentials.accessKeyId && current.sessionToken === credentials.sessionToken) current = undefined;
    },
  };
}
