/** Trust stores of client certificates, by their names. */
import type { Clock } from "../runtime/world.ts";
import type { Ask } from "./ask.ts";
import { unlessGone } from "./balancer-reads.ts";
import { Cache } from "./cache.ts";
import type { Caller } from "./caller.ts";
import { describeTrustStores } from "./elbv2-actions.ts";

const ageMs = 10 * 60_000;
/** Somebody who has just made the one that was missing need not wait long. */
const absentAgeMs = 10_000;

export class TrustStores {
  readonly #caller: Caller;
  readonly #arns: Cache<string | undefined>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#arns = new Cache({ clock, most: 1_000, absent: { is: (arn) => arn === undefined, ageMs: absentAgeMs } });
  }

  /** The ARN; undefined where there is none of this name. */
  arn(name: string, ask: Ask): Promise<string | undefined> {
    return this.#arns.get(name, ageMs, async () => {
      const answer = await unlessGone(() => this.#caller.call(describeTrustStores, { Names: [name] }, ask));
      return answer?.TrustStores?.[0]?.TrustStoreArn;
    });
  }
}
