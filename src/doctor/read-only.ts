/** The doctor's way to AWS: reads and dry runs pass, nothing else can. */
import type { HttpRequest, Transport } from "../runtime/http.ts";
import type { Clock } from "../runtime/world.ts";

/** A request that would have changed something was stopped. */
export class NotReadOnly extends Error {
  override readonly name = "NotReadOnly";
}

export interface ReadOnly {
  readonly transport: Transport;
  /** How far AWS's clock is ahead of this machine's, by its latest answer. */
  skewMs(): number | undefined;
}

const reads = /^(Describe|Get|List|Simulate|AssumeRole|BatchGet)/;

/** Wraps the way to AWS. Whatever is not plainly a read, and no dry run, is refused before it leaves. */
export function readOnly(send: Transport, clock: Clock): ReadOnly {
  let skewMs: number | undefined;
  return {
    skewMs: () => skewMs,
    async transport(request) {
      const action = actionIn(request);
      if (action !== undefined && !reads.test(action.name) && !action.dryRun) {
        throw new NotReadOnly(`the doctor changes nothing: ${action.name} was not sent`);
      }
      const response = await send(request);
      const served = Date.parse(response.headers.date ?? "");
      // The metadata service's date is this machine's own.
      if (action !== undefined && !Number.isNaN(served)) skewMs = served - clock.now();
      return response;
    },
  };
}

/** Undefined for what is no call of an API: the metadata service, a credentials endpoint. */
function actionIn({ body, headers }: HttpRequest): { readonly name: string; readonly dryRun: boolean } | undefined {
  const target = headers["x-amz-target"];
  if (target !== undefined) return { name: target.slice(target.lastIndexOf(".") + 1), dryRun: false };
  if (body === undefined) return undefined;
  const form = new URLSearchParams(typeof body === "string" ? body : Buffer.from(body as Uint8Array).toString("utf8"));
  const name = form.get("Action");
  return name === null ? undefined : { name, dryRun: form.get("DryRun") === "true" };
}
