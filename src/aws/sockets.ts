/** The way to AWS over sockets. */
import { egressOf } from "../runtime/egress.ts";
import { socketTransport } from "../runtime/http.ts";
import { awsRoots } from "../runtime/trust.ts";
import type { World } from "../runtime/world.ts";

/** In the region a connection is made within a second, or not at all. */
const connectTimeoutMs = 1_100;

/** By the proxy and the certificates that the environment names. */
export function awsSockets(world: World): ReturnType<typeof socketTransport> {
  return socketTransport({ connectTimeoutMs, egress: egressOf(world, awsRoots) });
}
