/** Secrets that log-ins name: each is followed by itself from the first time it is asked for, whether it exists or not. */
import { createHash } from "node:crypto";
import { secrets } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { type Informer, informer } from "../../kube/informer.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Secret } from "../../kube/types.ts";
import { rememberSecret } from "../../runtime/known-secrets.ts";
import type { SecretData } from "./auth.ts";

interface SecretState {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string; readonly resourceVersion: string };
  readonly labels: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
}

interface Followed {
  readonly informer: Informer<SecretState>;
  readonly end: AbortController;
}

export class FollowedSecrets {
  readonly #kube: KubeClient;
  readonly #followed = new Map<string, Followed>();
  /** Which ones, by the group that names them. */
  readonly #named = new Map<string, ReadonlySet<string>>();
  /** Digests of what was read and sent last, by group and Secret. */
  readonly #read = new Map<string, string>();
  readonly #sent = new Map<string, string>();
  /** Told the key of one that has changed. */
  onChange: (key: string) => void = () => {};

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  /** Follows exactly these for a group, and lets go of those that no group names any more; resolves when each has been looked for. */
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
    if (keys.size === 0) return;
    const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([Promise.all([...keys].map((key) => this.#followed.get(key)?.informer.synced)), stopped]);
  }

  /**
   * For a group: whether it is another than was sent for that group before. What nobody knows of counts as unchanged: whoever
   * ran before has sent it.
   */
  read(namespace: string, name: string, group: string): SecretData {
    const key = `${namespace}/${name}`;
    const state = this.#followed.get(key)?.informer.get(key);
    if (state === undefined) return { problem: `secret "${key}" not found` };
    for (const value of Object.values(state.data)) rememberSecret(value);
    const use = `${group} ${key}`;
    const [sent, now] = [this.#sent.get(use), digest(state.data)];
    this.#read.set(use, now);
    return { data: state.data, changed: sent !== undefined && sent !== now };
  }

  /** What was read for a group has been sent. */
  markSent(group: string): void {
    for (const [use, now] of this.#read) if (use.startsWith(`${group} `)) this.#sent.set(use, now);
  }

  #start(key: string): void {
    const [namespace = "", name = ""] = key.split("/");
    const followed = informer({
      client: this.#kube,
      of: secrets,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      name: "secrets of log-ins",
      project: secretState,
    });
    const end = new AbortController();
    this.#followed.set(key, { informer: followed, end });
    void followed.run(end.signal);
    let isFirst = true;
    void followed.synced.then(() => {
      isFirst = false;
    });
    followed.subscribe(() => {
      if (!isFirst) this.onChange(key);
    });
  }
}

function secretState({ metadata, data = {} }: Stored<Secret>): SecretState {
  const { name, namespace = "", uid, resourceVersion, labels = {} } = metadata;
  const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
  return { metadata: { name, namespace, uid, resourceVersion }, labels, data: Object.fromEntries(decoded) };
}

const digest = (data: Readonly<Record<string, string>>) =>
  createHash("sha256")
    .update(JSON.stringify(Object.entries(data).toSorted()))
    .digest("hex");
