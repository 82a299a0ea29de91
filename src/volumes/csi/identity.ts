/** The identity service. */
import { driverName } from "../names.ts";
import type { Rpc } from "../rpc.ts";
import type { Methods } from "./server.ts";

/** `healthy` rejects when the driver cannot work. */
export function identityMethods(version: string, healthy: (rpc: Rpc) => Promise<void>): Methods {
  return {
    GetPluginInfo: async () => ({ name: driverName, vendorVersion: version }),
    GetPluginCapabilities: async () => ({
      capabilities: ["CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS"].map((type) => ({ service: { type } })),
    }),
    async Probe(_: never, rpc) {
      await healthy(rpc);
      return {};
    },
  };
}
