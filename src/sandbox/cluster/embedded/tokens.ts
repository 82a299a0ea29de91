/** Bearer tokens: those the cluster was given, and those it issues for service accounts. */
import type { User } from "../../../runtime/access.ts";
import type { World } from "../../../runtime/world.ts";
import { asObject, asText, type JsonObject, type KubeObject } from "./json.ts";
import { timestamp } from "./timestamp.ts";

const anybody: User = { name: "admin", groups: ["system:masters"] };
const defaultSeconds = 3600;

export class Tokens {
  readonly #world: World;
  readonly #known: Map<string, { readonly user: User; readonly expires: number }>;
  readonly #open: boolean;

  /** Without a table everybody is an administrator. */
  constructor(world: World, table: Readonly<Record<string, User>> | undefined) {
    this.#world = world;
    this.#open = table === undefined;
    this.#known = new Map(Object.entries(table ?? {}).map(([token, user]) => [token, { user, expires: Number.POSITIVE_INFINITY }]));
  }

  /** Who sends this Authorization header; undefined when nobody we know. */
  userOf(authorization: string | undefined): User | undefined {
    const token = /^Bearer (.+)$/i.exec(authorization ?? "")?.[1];
    return (token === undefined ? undefined : this.holderOf(token)) ?? (this.#open ? anybody : undefined);
  }

  holderOf(token: string): User | undefined {
    const found = this.#known.get(token);
    return found !== undefined && found.expires > this.#world.clock.now() ? found.user : undefined;
  }

  /** A TokenRequest, answered. */
  issue(account: KubeObject, request: JsonObject): JsonObject {
    const { name, namespace = "", uid } = account.metadata;
    const spec = asObject(request.spec);
    const seconds = typeof spec.expirationSeconds === "number" ? spec.expirationSeconds : defaultSeconds;
    const now = this.#world.clock.now();
    const expires = now + seconds * 1000;
    const claims = { sub: `system:serviceaccount:${namespace}:${name}`, exp: Math.floor(expires / 1000), aud: spec.audiences ?? [] };
    const part = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signature = Buffer.from(this.#world.random.bytes(16)).toString("base64url");
    const token = `${part({ alg: "none" })}.${part(claims)}.${signature}`;
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
    this.#known.set(token, { user: { name: claims.sub, uid: asText(uid), groups }, expires });
    return {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name, namespace, uid, creationTimestamp: timestamp(now) },
      spec: { audiences: spec.audiences ?? [], expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
      status: { token, expirationTimestamp: timestamp(expires) },
    };
  }
}
