/** From `--cloud-config` to what it says. */
import type { Host } from "../../runtime/host.ts";
import { type CloudConfig, CloudConfigInvalid, readCloudConfig } from "./cloud-config.ts";
import type { Options } from "./flags.ts";

/** Reads and checks the file; nothing of AWS is asked yet. What has no effect in it is warned about, or refused if strict. */
export async function loadCloudConfig(host: Host, options: Pick<Options, "cloud-config" | "strict-cloud-config">): Promise<CloudConfig> {
  const path = options["cloud-config"];
  if (path === "") return readCloudConfig(new Uint8Array()).config;
  let content: Uint8Array;
  try {
    content = await host.world.files.read(path);
  } catch (cause) {
    throw new CloudConfigInvalid(`Couldn't open cloud provider configuration ${path}: ${(cause as Error).message}`, { cause });
  }
  const { config, warnings } = readCloudConfig(content);
  if (warnings.length > 0 && options["strict-cloud-config"]) {
    throw new CloudConfigInvalid(`cloud config ${path} is refused because of --strict-cloud-config: ${warnings.join("; ")}`);
  }
  for (const warning of warnings) host.log.warn(`cloud config ${path}: ${warning}`);
  return config;
}
