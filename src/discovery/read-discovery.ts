/** How the discovery document is read: by whoever reads it, through this. */
import * as z from "zod";
import type { Discovered } from "./document.ts";

const strings = z.array(z.string());

/** Of a field that is not what it should be, nothing is known; the others are read. */
const shape = z.object({
  kind: z.literal("AWSCloudProviderDiscoveryData"),
  vpcID: z.string().optional().catch(undefined),
  zones: strings.optional().catch(undefined),
  availabilityZones: z
    .array(
      z.object({
        name: z.string(),
        id: z.string(),
        type: z.string(),
        state: z.string(),
        optInStatus: z.string(),
        networkBorderGroup: z.string(),
      }),
    )
    .optional()
    .catch(undefined),
  subnets: z
    .array(
      z.object({
        id: z.string(),
        zone: z.string(),
        cidr: z.string(),
        availableIPs: z.number(),
        mapPublicIP: z.boolean(),
        name: z.string(),
        role: z.enum(["public", "internal", ""]),
      }),
    )
    .optional()
    .catch(undefined),
  securityGroups: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .optional()
    .catch(undefined),
  instanceTypeZones: z.record(z.string(), strings).optional().catch(undefined),
  defaultAMI: z
    .object({ id: z.string(), architecture: z.string(), rootDeviceName: z.string(), state: z.string() })
    .optional()
    .catch(undefined),
});

/** What the document says; undefined when there is none, or when it is not ours. */
export function readDiscovery(text: string | undefined): Discovered | undefined {
  if (text === undefined) return undefined;
  try {
    const { kind: _, ...found } = shape.parse(JSON.parse(text));
    return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  } catch {
    return undefined;
  }
}
