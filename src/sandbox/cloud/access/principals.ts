/** Who calls: the account's own user for any access key, and a role's session for keys that STS or an instance gave out. */
import { createHash } from "node:crypto";
import type { Ids } from "../ids.ts";
import type { Time } from "../time.ts";

/** A caller, as GetCallerIdentity tells it. */
export interface Principal {
  readonly account: string;
  readonly arn: string;
  /** `AIDA…`, or `AROA…:session`. */
  readonly userId: string;
}

/** Temporary credentials as STS and the metadata service hand them out. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
}

interface Session {
  readonly principal: Principal;
  readonly tokenHash: string;
  readonly expires: number;
}

const MEMORY_MS = 24 * 3_600_000;

/** The principals of one account and the sessions they have opened. */
export class Principals {
  readonly owner: Principal;
  readonly #account: string;
  readonly #partition: string;
  readonly #ids: Ids;
  readonly #time: Time;
  readonly #sessions = new Map<string, Session>();

  constructor(account: string, partition: string, ids: Ids, time: Time) {
    this.#account = account;
    this.#partition = partition;
    this.#ids = ids;
    this.#time = time;
    this.owner = { account, arn: `arn:${partition}:iam::${account}:user/owner`, userId: `AIDA${ids.upper(17)}` };
  }

  /** Opens a session of a role; `seconds` from now its keys stop working. */
  open(roleArn: string, sessionName: string, seconds: number): { readonly principal: Principal; readonly credentials: Credentials } {
    const account = roleArn.split(":")[4] ?? this.#account;
    const role = roleArn.split("/").at(-1) ?? "role";
    const principal: Principal = {
      account,
      arn: `arn:${this.#partition}:sts::${account}:assumed-role/${role}/${sessionName}`,
      userId: `AROA${idOf(roleArn)}:${sessionName}`,
    };
    this.#forgetExpired();
    const expires = this.#time.now() + seconds * 1000;
    const credentials: Credentials = {
      accessKeyId: `ASIA${this.#ids.upper(16)}`,
      secretAccessKey: this.#ids.hex(40),
      sessionToken: Buffer.from(this.#ids.random.bytes(96)).toString("base64"),
      // STS speaks in whole seconds.
      expiration: new Date(Math.floor(expires / 1000) * 1000),
    };
    this.#sessions.set(credentials.accessKeyId, { principal, tokenHash: hash(credentials.sessionToken), expires });
    return { principal, credentials };
  }

  /** Keys that expired long ago are no longer told from ones that never were. */
  #forgetExpired(): void {
    const longAgo = this.#time.now() - MEMORY_MS;
    for (const [key, { expires }] of this.#sessions) if (expires < longAgo && expires > 0) this.#sessions.delete(key);
  }

  /** Who an access key belongs to. Keys of users are all taken for the owner's; temporary ones must be ours and alive. */
  resolve(accessKeyId: string, sessionToken: string | undefined): Principal | "unknown" | "expired" {
    if (!accessKeyId.startsWith("ASIA")) return this.owner;
    const session = this.#sessions.get(accessKeyId);
    if (session === undefined || sessionToken === undefined || session.tokenHash !== hash(sessionToken)) return "unknown";
    return session.expires <= this.#time.now() ? "expired" : session.principal;
  }

  /** Ends all sessions of a role at once, as if its trust had been revoked. */
  expire(roleName: string): void {
    for (const [key, session] of this.#sessions) {
      if (session.principal.arn.includes(`:assumed-role/${roleName}/`)) this.#sessions.set(key, { ...session, expires: 0 });
    }
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A role keeps its unique id for life, so that it derives from its name. */
function idOf(roleArn: string): string {
  return createHash("sha256").update(roleArn).digest("hex").slice(0, 17).toUpperCase();
}
