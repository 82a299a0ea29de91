/** The instance metadata service, version 2, as one instance reaches it at 169.254.169.254. */
import type { HttpRequest, HttpResponse, Transport } from "../../../runtime/http.ts";
import type { Credentials } from "../access/principals.ts";
import type { Account } from "../account.ts";
import type { Instance } from "../ec2/state.ts";
import { ConnectionCut } from "../errors.ts";
import { respond } from "../protocol/http.ts";
import { identityDocument } from "./identity.ts";
import { metadataTree } from "./tree.ts";

const TTL_HEADER = "x-aws-ec2-metadata-token-ttl-seconds";
const MAX_TTL_SECONDS = 21_600;
const CREDENTIALS_SECONDS = 6 * 3600;
/** New credentials appear at least this long before the old ones expire. */
const ROTATION_MS = 300_000;

/** A folder of the metadata tree, or what a path holds. */
export type Tree = { readonly [name: string]: Tree | string };

/** The metadata service of all instances of one cloud. */
export class MetadataService {
  readonly #account: Account;
  readonly #tokens = new Map<string, { readonly instanceId: string; readonly expires: number }>();
  readonly #credentials = new Map<string, { readonly issued: number; readonly credentials: Credentials }>();

  constructor(account: Account) {
    this.#account = account;
  }

  /** The service as seen from an instance, `hops` network hops away: 1 on the machine itself, 2 in a pod behind a bridge. */
  of(instanceId: string, hops = 1): Transport {
    return async (request) => {
      this.#account.time.settle();
      const instance = this.#account.ec2.instances.get(instanceId);
      if (instance === undefined || (instance.state !== "running" && instance.state !== "pending")) throw new ConnectionCut();
      if (!instance.metadata.endpoint) return text(403, "");
      return request.method === "PUT" ? this.#issueToken(request, instance, hops) : this.#read(request, instance);
    };
  }

  async #issueToken(request: HttpRequest, instance: Instance, hops: number): Promise<HttpResponse> {
    if (!/^\/(latest|\d{4}-\d{2}-\d{2})\/api\/token$/.test(request.url.pathname)) return text(405, "");
    // Behind a proxy the service gives no tokens.
    if (request.headers["x-forwarded-for"] !== undefined) return text(403, "");
    const ttl = Number(request.headers[TTL_HEADER]);
    if (!Number.isInteger(ttl) || ttl < 1 || ttl > MAX_TTL_SECONDS) return text(400, "");
    if (hops > instance.metadata.hopLimit) return lostOnTheWay(request.signal);
    this.#forgetExpired();
    const token = Buffer.from(this.#account.ids.random.bytes(42)).toString("base64url");
    this.#tokens.set(token, { instanceId: instance.id, expires: this.#account.time.now() + ttl * 1000 });
    return text(200, token, { [TTL_HEADER]: String(ttl) });
  }

  #read(request: HttpRequest, instance: Instance): HttpResponse {
    if (request.method !== "GET" && request.method !== "HEAD") return text(405, "");
    const token = request.headers["x-aws-ec2-metadata-token"];
    if (token === undefined ? instance.metadata.tokensRequired : !this.#isGood(token, instance)) return text(401, "");
    const [version = "", ...path] = request.url.pathname
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
    if (version !== "latest" && !/^\d{4}-\d{2}-\d{2}$/.test(version)) return notFound();
    const found = this.#find(instance, path);
    if (found === undefined) return notFound();
    const headers = this.#remaining(token);
    if (typeof found === "string") return text(200, found, headers);
    return text(
      200,
      Object.entries(found)
        .map(([name, child]) => (typeof child === "string" ? name : `${name}/`))
        .join("\n"),
      headers,
    );
  }

  /** Each answer tells how long the token of its request will last. */
  #remaining(token: string | undefined): Record<string, string> {
    const known = token === undefined ? undefined : this.#tokens.get(token);
    if (known === undefined) return {};
    return { [TTL_HEADER]: String(Math.floor((known.expires - this.#account.time.now()) / 1000)) };
  }

  #isGood(token: string, instance: Instance): boolean {
    const known = this.#tokens.get(token);
    return known?.instanceId === instance.id && known.expires > this.#account.time.now();
  }

  #forgetExpired(): void {
    const now = this.#account.time.now();
    for (const [token, { expires }] of this.#tokens) if (expires <= now) this.#tokens.delete(token);
  }

  #find(instance: Instance, path: readonly string[]): Tree | string | undefined {
    let place: Tree | string | undefined = {
      dynamic: { "instance-identity": { document: identityDocument(this.#account, instance) } },
      "meta-data": metadataTree(this.#account, instance, (role) => this.#roleCredentials(instance, role)),
      ...(instance.userData === undefined ? {} : { "user-data": Buffer.from(instance.userData, "base64").toString("utf8") }),
    };
    for (const part of path) {
      if (typeof place !== "object" || !Object.hasOwn(place, part)) return undefined;
      place = place[part];
    }
    return place;
  }

  /** The same keys for everybody on the machine, until they are about to expire. */
  #roleCredentials(instance: Instance, role: string): string {
    const { principals, time, id, partition } = this.#account;
    let current = this.#credentials.get(instance.id);
    if (current === undefined || current.credentials.expiration.getTime() - time.now() < ROTATION_MS) {
      const { credentials } = principals.open(`arn:${partition}:iam::${id}:role/${role}`, instance.id, CREDENTIALS_SECONDS);
      current = { issued: time.now(), credentials };
      this.#credentials.set(instance.id, current);
    }
    const { credentials } = current;
    const document = {
      Code: "Success",
      LastUpdated: new Date(current.issued).toISOString().replace(/\.\d+Z$/, "Z"),
      Type: "AWS-HMAC",
      AccessKeyId: credentials.accessKeyId,
      SecretAccessKey: credentials.secretAccessKey,
      Token: credentials.sessionToken,
      Expiration: credentials.expiration.toISOString().replace(/\.\d+Z$/, "Z"),
    };
    return JSON.stringify(document, undefined, 2);
  }
}

/** A token whose packet dies of its hop limit: the caller waits until it gives up. */
function lostOnTheWay(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal === undefined) reject(new ConnectionCut());
    else if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function notFound(): HttpResponse {
  return text(
    404,
    '<?xml version="1.0" encoding="iso-8859-1"?>\n<html><head><title>404 - Not Found</title></head><body><h1>404 - Not Found</h1></body></html>',
  );
}

function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return respond({ status, headers: { "content-type": "text/plain", server: "EC2ws", ...headers }, body });
}
