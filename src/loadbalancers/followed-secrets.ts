/** Secrets that log-ins name: each is followed by itself from the first time it is asked for, whether it exists or not. */
import { createHash } from "node:crypto";
import { secrets } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Informer, informer } from "../kube/informer.ts";
import type { Stored } from "../kube/resource.ts";
import type { Secret } from "../kube/types.ts";
import { rememberSecret } from "../runtime/known-secrets.ts";
import { Secret as Opaque } from "../runtime/secret.ts";
import { type Clock, sleep } from "../runtime/world.ts";

/** The data of a Secret, as text; a text says why it cannot be read. `isUnread`: nobody knows yet whether it is there. */
export type SecretData =
  | { readonly data: Readonly<Record<string, string>>; readonly changed: boolean }
  | { readonly problem: string; readonly isUnread?: true };

/** Whoever uses a Secret of its own namespace. */
export interface SecretUser {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** `--required-secrets-label` */
export interface RequiredLabel {
  readonly key: string;
  readonly value: string;
}

interface SecretState {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string; readonly resourceVersion: string };
  /** Undefined where it may not be read. */
  readonly data: Readonly<Record<string, string>> | undefined;
}

interface Followed {
  readonly informer: Informer<SecretState>;
  readonly end: AbortController;
}

/** How long a group waits for Secrets that it has not seen yet. */
const patienceMs = 5_000;

/** Digests by the names of Secrets. */
export type SecretDigests = Readonly<Record<string, string>>;

export class FollowedSecrets {
  readonly #kube: KubeClient;
  readonly #clock: Clock;
  readonly #required: RequiredLabel | undefined;
  readonly #followed = new Map<string, Followed>();
  /** Which ones, by the group that names them. */
  readonly #named = new Map<string, ReadonlySet<string>>();
  /** What was read and sent last for a user, by its key. */
  readonly #read = new Map<string, Record<string, string>>();
  readonly #sent = new Map<string, SecretDigests>();
  /** Told the key of one that has changed. */
  onChange: (key: string) => void = () => {};

  constructor(kube: KubeClient, clock: Clock, required?: RequiredLabel) {
    this.#kube = kube;
    this.#clock = clock;
    this.#required = required;
  }

  /** Follows none any more: a process does not end while it still watches something. */
  close(): void {
    for (const { end } of this.#followed.values()) end.abort();
    this.#followed.clear();
    this.#named.clear();
  }

  /**
   * Follows exactly these for a group, and lets go of those that no group names any more; resolves when each has been looked
   * for. One that may not be read keeps nobody waiting for long.
   */
  async follow(group: string, keys: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    if (keys.size > 0) this.#named.set(group, keys);
    else this.#named.delete(group);
    const named = new Set([...this.#named.values()].flatMap((each) => [...each]));
    for (const [key, { end }] of this.#followed) {
      if (named.has(key)) continue;
      end.abort();
      this.#followed.delete(key);
    }
    for (const key of keys) if (!this.#followed.has(key)) this.#start(key);
    const unread = [...keys].flatMap((key) => {
      const followed = this.#followed.get(key);
      return followed && !followed.informer.hasSynced ? [followed.informer.synced] : [];
    });
    if (unread.length === 0) return;
    const over = new AbortController();
    const late = sleep(this.#clock, patienceMs, AbortSignal.any([signal, over.signal])).catch(() => {});
    await Promise.race([Promise.all(unread), late]);
    over.abort();
  }

  /** A user is about to be read anew: what it reads from here on is what it uses. */
  begin(user: string): void {
    this.#read.delete(user);
  }

  /**
   * For a user, with what is recorded on it: whether the Secret is another than was sent for it before. What nobody knows
   * of counts as unchanged: whoever ran before has sent it. `as`: its key, where that is not its name.
   */
  read(name: string, user: SecretUser, recorded: SecretDigests, as = `${user.namespace}/${user.name}`): SecretData {
    const key = `${user.namespace}/${name}`;
    const followed = this.#followed.get(key)?.informer;
    if (followed && !followed.hasSynced)
      return { problem: `secret "${key}" cannot be read: is the service account allowed to list and watch it?`, isUnread: true };
    const state = followed?.get(key);
    if (state === undefined) return { problem: `secret "${key}" not found` };
    if (state.data === undefined) {
      const { key: label, value } = this.#required!;
      return { problem: `secret ${key} is missing required label ${label}=${value}; only Secrets that carry it are read` };
    }
    for (const value of Object.values(state.data)) rememberSecret(value);
    const now = digest(state.data, user.uid);
    const sent = (this.#sent.get(as) ?? recorded)[name];
    this.#read.set(as, { ...this.#read.get(as), [name]: now });
    return { data: state.data, changed: sent !== undefined && sent !== now };
  }

  /** What was read for a user has been sent: digests of it, to be recorded. */
  markSent(user: string): SecretDigests {
    const sent = this.#read.get(user) ?? {};
    this.#sent.set(user, sent);
    return sent;
  }

  /** It is gone. */
  forget(user: string): void {
    this.#read.delete(user);
    this.#sent.delete(user);
  }

  #start(key: string): void {
    const [namespace = "", name = ""] = key.split("/");
    const required = this.#required;
    const followed = informer({
      client: this.#kube,
      of: secrets,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      name: "secrets of log-ins",
      project: (secret: Stored<Secret>) => secretState(secret, required),
    });
    const end = new AbortController();
    this.#followed.set(key, { informer: followed, end });
    void followed.run(end.signal);
    let isFirst = true;
    const began = this.#clock.monotonic();
    void followed.synced.then(() => {
      isFirst = false;
      // Whoever waited has gone on without it.
      if (this.#clock.monotonic() - began >= patienceMs) this.onChange(key);
    });
    followed.subscribe(() => {
      if (!isFirst) this.onChange(key);
    });
  }
}

/** Nothing is kept of one that may not be read. */
function secretState({ metadata, data = {} }: Stored<Secret>, required: RequiredLabel | undefined): SecretState {
  const { name, namespace = "", uid, resourceVersion, labels = {} } = metadata;
  const isAllowed = required === undefined || labels[required.key] === required.value;
  const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
  return { metadata: { name, namespace, uid, resourceVersion }, data: isAllowed ? Object.fromEntries(decoded) : undefined };
}

const clientKeys = ["clientID", "clientId", "clientSecret"];

/**
 * Enough to see that a client was changed, and not enough to tell what it is: of a short secret, which could be guessed, 24 bits
 * leave many that fit. The user's own salt keeps two that use one client from showing it.
 */
function digest(data: Readonly<Record<string, string>>, salt: string): string {
  const client = clientKeys.map((key) => data[key] ?? null);
  return createHash("sha256")
    .update(JSON.stringify([salt, ...client]))
    .digest("hex")
    .slice(0, 6);
}

/** A client of an identity provider, or what is missing in its Secret. */
export type ClientData = { readonly clientId: Opaque; readonly clientSecret: Opaque } | { readonly missing: "clientID" | "clientSecret" };

/** Blanks after the id and control characters after the secret are what editors leave behind. */
export function clientIn(data: Readonly<Record<string, string>>): ClientData {
  const id = data.clientID ?? data.clientId;
  if (id === undefined) return { missing: "clientID" };
  if (data.clientSecret === undefined) return { missing: "clientSecret" };
  return { clientId: new Opaque(id.trimEnd()), clientSecret: new Opaque(data.clientSecret.replace(/\p{Cc}+$/u, "")) };
}
