/**
 * A provider that stands in for hashicorp/aws where that cannot be had: its arguments and attributes are the real one's, read
 * from a package generated from it; what it does with them is ours, on the simulated cloud. It shows that the layouts' modules
 * fit together and what they create, not how the real provider replaces, waits and retries. Never shipped.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Aws } from "./aws/account.ts";
import { addressTypes } from "./aws/addresses.ts";
import { dataSourcesOf } from "./aws/data-sources.ts";
import { endpointTypes } from "./aws/endpoints.ts";
import { groupTypes } from "./aws/groups.ts";
import { identityTypes } from "./aws/identity.ts";
import { machineTypes } from "./aws/machines.ts";
import { networkTypes } from "./aws/network.ts";
import { peeringTypes } from "./aws/peering.ts";
import { routingTypes } from "./aws/routing.ts";
import type { Provider } from "./plugin.ts";
import type { ProviderSchema } from "./schema.ts";

/** The versions of the real provider whose schemas are here. */
export const schemaVersions = ["5.83.1", "6.66.0"] as const;

export async function readSchema(version: (typeof schemaVersions)[number]): Promise<ProviderSchema> {
  return JSON.parse(await readFile(join(import.meta.dirname, `schema-${version}.json`), "utf8")) as ProviderSchema;
}

export async function standInProvider(aws: Aws): Promise<Provider> {
  return {
    schema: await readSchema("5.83.1"),
    resources: {
      ...networkTypes(aws),
      ...routingTypes(aws),
      ...addressTypes(aws),
      ...peeringTypes(aws),
      ...endpointTypes(aws),
      ...groupTypes(aws),
      ...identityTypes(aws),
      ...machineTypes(aws),
    },
    dataSources: dataSourcesOf(aws),
  };
}
