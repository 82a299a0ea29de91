/** Who we are to AWS: keys that may expire, and where newer ones come from. */
import type { World } from "../runtime/world.ts";
import { neverAborted } from "./abort.ts";

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
const retryAfterMs = 1_000;

/** Keeps what `obtain` gives until shortly before it expires. Everybody who asks meanwhile shares one request. */
export function kept(world: World, obtain: (signal: AbortSignal) => Promise<Credentials>): CredentialSource {
  // Not everybody renews in the same second.
  const renewEarlierMs = renewBeforeMs + world.random.number() * 60_000;
  let current: Credentials | undefined;
  let pending: Promise<Credentials> | undefined;
  let failed: { readonly error: unknown; readonly at: number } | undefined;

  const leftMs = (credentials: Credentials) => (credentials.expiresAt ?? Number.POSITIVE_INFINITY) - world.clock.now();
  const renew = async (): Promise<Credentials> => {
    try {
      current = await obtain(neverAborted);
      failed = undefined;
      return current;
    } catch (error) {
      failed = { error, at: world.clock.monotonic() };
      // Old keys that still work are better than none; the failure comes to light when they do not.
      if (current !== undefined && leftMs(current) > 0) return current;
      throw error;
    } finally {
      pending = undefined;
    }
  };

  return {
    async get(signal) {
      signal.throwIfAborted();
      if (current !== undefined && leftMs(current) > renewEarlierMs) return current;
      const failedLately = failed !== undefined && world.clock.monotonic() - failed.at < retryAfterMs;
      if (failedLately && pending === undefined) {
        if (current !== undefined && leftMs(current) > 0) return current;
        throw failed?.error;
      }
      pending ??= renew();
      return pending;
    },
    expired(credentials) {
      if (current?.accessKeyId === credentials.accessKeyId && current.sessionToken === credentials.sessionToken) current = undefined;
    },
  };
}
