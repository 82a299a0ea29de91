import { createServer } from "node:net";
import type { World } from "../../../runtime/world.ts";

/**
 * A port of this machine on which nobody listens, below the range that systems hand out for outgoing connections, so
 * that a server that is killed finds its port still free when it starts again.
 */
export async function freePort(world: World): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(world.random.number() * 12_000);
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
