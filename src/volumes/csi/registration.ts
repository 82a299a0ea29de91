/** Kubelet finds a driver by a socket in its registry folder, and asks there which driver it is and where it listens. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../runtime/log.ts";
import { driverName } from "../names.ts";
import { type CsiServer, serveCsi } from "./server.ts";

export interface RegistrationOptions {
  /** Kubelet's registry folder, as this process sees it. */
  readonly folder: string;
  /** The driver's socket, as kubelet sees it. */
  readonly endpoint: string;
  readonly log: Log;
}

/** What node-driver-registrar says for a driver. */
const plugin = { type: "CSIPlugin", name: driverName, supportedVersions: ["1.0.0"] };

/** Registers until stopped: kubelet forgets the driver when the socket goes. */
export async function serveRegistration({ folder, endpoint, log }: RegistrationOptions): Promise<CsiServer> {
  const path = join(folder, `${driverName}-reg.sock`);
  await rm(path, { force: true });
  return serveCsi(
    { kind: "unix", path },
    {
      "pluginregistration.Registration": {
        GetInfo: async () => ({ ...plugin, endpoint }),
        async NotifyRegistrationStatus({ pluginRegistered, error }: { readonly pluginRegistered: boolean; readonly error: string }) {
          if (pluginRegistered) log.info("kubelet has registered the driver");
          else log.error("kubelet could not register the driver; it tries again", { error });
          return {};
        },
      },
    },
    log,
  );
}
