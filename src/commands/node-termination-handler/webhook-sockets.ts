/** How webhooks are reached: through a proxy of their own, or none. That of the environment is not theirs. */
import { awsSockets } from "../../aws/sockets.ts";
import type { World } from "../../runtime/world.ts";

/** Sockets that go by this proxy (`tcp://host:port` or `http(s)://…`); empty: directly. */
export function webhookSockets(world: World, proxy: string): ReturnType<typeof awsSockets> {
  const { clock, random, files, hostname } = world;
  const url = proxy.replace(/^tcp:/, "http:");
  const kept = Object.entries(world.environment).filter(([name]) => !/^(https?|no|all)_proxy$/i.test(name));
  const environment = { ...Object.fromEntries(kept), ...(url !== "" && { HTTP_PROXY: url, HTTPS_PROXY: url }) };
  return awsSockets({ clock, random, files, environment, hostname });
}
