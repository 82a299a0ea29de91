/** Credentials from a metadata service that stalls in every phase, among many who ask: nobody waits for ever, nobody hammers it. */
import { findCredentials } from "../../src/aws/credential-chain.ts";
import { kept } from "../../src/aws/credentials.ts";
import { Metadata } from "../../src/aws/metadata.ts";
import { noSettings } from "../../src/aws/settings.ts";
import type { HttpResponse, Transport } from "../../src/runtime/http.ts";
import { sleep } from "../../src/runtime/world.ts";
import { type Bout, boutLimitMs } from "./bout.ts";
import type { Scene } from "./scene.ts";

/** Two questions of at most 5 s each, and pauses between them. */
const patienceMs = 15_000;
const keyLifeMs = 60_000;

/** Askers come at random while the service has its moods; afterwards it is well and keys are had. */
export const credentialsBout: Bout = async (scene, signal) => {
  const { chance, world, history } = scene;
  const service = moodyService(scene, signal);
  const metadata = new Metadata(world, service.transport, noSettings);
  const assumeWithToken = () => Promise.reject(new Error("there is no token here"));
  const options = { world, transport: service.transport, metadata, region: scene.cloud.account.region, assumeWithToken };
  const source = kept(world, (within) => findCredentials(options, within));
  const unasked = new AbortController().signal;
  const ask = async () => {
    const since = world.clock.monotonic();
    const cancel = world.clock.after(patienceMs, () => history.broken("nobody waits for credentials for ever", `${patienceMs} ms went by`));
    try {
      const { expiresAt = 0 } = await source.get(unasked);
      if (expiresAt <= world.clock.now()) history.broken("keys that are handed out are valid", `asked ${since}, expired ${expiresAt}`);
    } catch {
      // What the service is like today. The next gets them.
    } finally {
      cancel();
    }
  };
  while (!signal.aborted) {
    const before = service.asked();
    for (let asker = 0; asker < 5; asker++) await Promise.race([ask(), sleep(world.clock, 1)]);
    if (service.asked() - before > 2) history.broken("the same keys are not asked for at every call", `${service.asked() - before} times`);
    await sleep(world.clock, chance.between(200, 5000), signal).catch(() => {});
  }
  await sleep(world.clock, boutLimitMs - patienceMs);
  const tooLong = sleep(world.clock, patienceMs).then(() => new Error("no answer"));
  const last = await Promise.race([source.get(unasked), tooLong]).catch((error: unknown) => error);
  if (last instanceof Error) history.broken("credentials are had when the service is well", last.message);
};

/** A metadata service of one role. While faults are injected it may fall silent before its headers, or in the middle of its body. */
function moodyService({ chance, world }: Scene, signal: AbortSignal): { readonly transport: Transport; asked(): number } {
  let asked = 0;
  const never = new Promise<never>(() => {});
  const answer = (text: string, stalls: boolean): HttpResponse => ({
    status: 200,
    headers: {},
    body: (async function* () {
      yield Buffer.from(text.slice(0, 3));
      if (stalls) await never;
      yield Buffer.from(text.slice(3));
    })(),
  });
  return {
    asked: () => asked,
    async transport({ url }) {
      const mood = signal.aborted ? "well" : chance.pick(["well", "well", "well", "silent", "stalls", "fails"] as const);
      if (mood === "silent") return never;
      if (mood === "fails") return { ...answer("", false), status: 500 };
      if (url.pathname.endsWith("/api/token")) return answer("token", mood === "stalls");
      if (url.pathname.endsWith("/security-credentials/")) return answer("node-role", mood === "stalls");
      asked++;
      const Expiration = new Date(world.clock.now() + keyLifeMs).toISOString();
      return answer(
        JSON.stringify({ AccessKeyId: `ASIA${asked}`, SecretAccessKey: "simulated", Token: "simulated", Expiration }),
        mood === "stalls",
      );
    },
  };
}
