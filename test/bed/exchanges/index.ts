/** Every exchange that the embedded API and a real one must agree on. */
import { applyExchanges } from "./applies.ts";
import { binaryExchanges } from "./binary.ts";
import { customExchanges } from "./custom.ts";
import { deleteExchanges } from "./deletes.ts";
import { evictionExchanges } from "./evictions.ts";
import { kindExchanges } from "./kinds.ts";
import { listExchanges } from "./lists.ts";
import { normalised } from "./normal.ts";
import { objectExchanges } from "./objects.ts";
import { patchExchanges } from "./patches.ts";
import { shapeExchanges } from "./shapes.ts";
import { storageExchanges } from "./storage.ts";
import { type Exchange, type Partner, Talk, type Value } from "./talk.ts";
import { watchExchanges } from "./watches.ts";

export const exchanges: readonly Exchange[] = [
  ...objectExchanges,
  ...patchExchanges,
  ...applyExchanges,
  ...listExchanges,
  ...watchExchanges,
  ...deleteExchanges,
  ...kindExchanges,
  ...customExchanges,
  ...shapeExchanges,
  ...binaryExchanges,
  ...evictionExchanges,
  ...storageExchanges,
];

/** Holds one exchange in a namespace of its own and returns what was said, in comparable form. */
export async function hold(exchange: Exchange, partner: Partner): Promise<Value> {
  const talk = new Talk(partner, `exchange-${exchanges.indexOf(exchange) + 1}`);
  await talk.prepare();
  await exchange.run(talk);
  return normalised(talk.transcript);
}
