/** The output of the step that made the cluster's network, as far as discovery reads it. */
import * as z from "zod";

/** What is known of the cluster's network; everything is optional, because a hybrid cluster has none of it. */
export interface Infrastructure {
  readonly zones?: readonly string[];
  readonly zoneToSubnetIdMap?: Readonly<Record<string, string>>;
  readonly instances?: { readonly ami?: string };
}

const shape = z.object({
  zones: z.array(z.string()).optional(),
  zoneToSubnetIdMap: z.record(z.string(), z.string()).optional(),
  instances: z.object({ ami: z.string().optional() }).optional(),
});

/** Reads the key of the Secret. Throws with what is wrong; an absent key is an empty output. */
export function readInfrastructure(text: string | undefined): Infrastructure {
  if (text === undefined || text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new InfrastructureUnreadable("it is not JSON", { cause });
  }
  const read = shape.safeParse(value ?? {});
  if (!read.success) {
    throw new InfrastructureUnreadable(read.error.issues.map(({ path, message }) => `${path.join(".") || "it"}: ${message}`).join("; "));
  }
  return read.data as Infrastructure;
}

/** The Secret has something else under the key than the output of a layout. */
export class InfrastructureUnreadable extends Error {
  override readonly name = "InfrastructureUnreadable";
  constructor(why: string, options?: ErrorOptions) {
    super(`cloud-provider-discovery-data.json of Secret kube-system/d8-provider-cluster-configuration: ${why}`, options);
  }
}

/** The subnet whose VPC is the cluster's: that of the first zone by name. */
export function firstSubnet({ zoneToSubnetIdMap = {} }: Infrastructure): string | undefined {
  const [zone] = Object.keys(zoneToSubnetIdMap).sort();
  return zone === undefined ? undefined : zoneToSubnetIdMap[zone];
}
