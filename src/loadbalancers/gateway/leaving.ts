/**
 * A Gateway that goes to a class of another controller. Its load balancer stays for a while, as it is: clients follow an address only
 * when the other controller has published one, and whoever has named the wrong class gets it back.
 */
import type { Ask } from "../../aws/ask.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import type { GatewayContext } from "./context.ts";
import { removeGateway } from "./removal.ts";
import type { SeenGateway } from "./report.ts";
import { type ClassView, keyOf } from "./view.ts";

/** From then on nobody comes back by chance, and clients have followed. */
const leavingMs = 10 * 60_000;

/** What its Events and plans say. */
export const leavingText = ({ name, controllerName }: ClassView) =>
  `GatewayClass ${name} belongs to another controller, ${controllerName}: the load balancer that was made here stays for ` +
  `${leavingMs / 60_000} minutes and is deleted then, unless the Gateway comes back`;

export async function leaveGateway(gateway: SeenGateway, of: ClassView, context: GatewayContext, ask: Ask): Promise<Outcome> {
  const { leaving, host, report } = context;
  const key = keyOf(gateway.view);
  const now = host.world.clock.monotonic();
  const since = leaving.get(key) ?? now;
  leaving.set(key, since);
  const left = since + leavingMs - now;
  if (left <= 0) return removeGateway(gateway, context, ask);
  report.warn(gateway, [leavingText(of)]);
  return again(left, "the Gateway has gone to another controller's class");
}
