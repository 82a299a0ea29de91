/**
 * Clients of services that are asked for a few calls only, where their own SDK client would be a dependency for little: one of another
 * generation (WAF Classic), or one more for five calls of a set-up command (EventBridge), or for two (Route 53). The client of WAF, which is here
 * anyway, speaks to them under their name, with schemas of just these calls; where they have another protocol than its own, in that.
 */
import { WAFV2Client, type WAFV2ClientConfig } from "@aws-sdk/client-wafv2";
import { makeBuilder } from "@smithy/core/client";
import { getEndpointPlugin } from "@smithy/core/endpoints";
import type { MetadataBearer, StaticListSchema, StaticOperationSchema, StaticStructureSchema } from "@smithy/types";
import { type Partition, partitionOf } from "../partitions.ts";
import type { clientConfig } from "./client.ts";

/** What a service is called in the places that have its name. */
export interface BorrowedService {
  readonly serviceId: string;
  /** In signatures, and the beginning of its host. */
  readonly signingName: string;
  readonly namespace: string;
  /** The prefix of `x-amz-target`. */
  readonly target: string;
  /** The protocol, where it is not WAF's, and what that needs to know. */
  readonly protocol?: { readonly protocol: unknown; readonly settings: Readonly<Record<string, string>> };
  /** Where it lives, if it is one for a whole partition. */
  home?(partition: Partition, fips: boolean): { readonly region: string; readonly host: string };
}

/** The client class of a service. */
export function borrowedClient({ serviceId, signingName, namespace, target, protocol, home }: BorrowedService) {
  return class extends WAFV2Client {
    constructor(config: ReturnType<typeof clientConfig>) {
      const { region, endpoint, useFipsEndpoint } = config;
      const partition = partitionOf(region);
      // In GovCloud every endpoint is one.
      const fips = useFipsEndpoint && partition.name !== "aws-us-gov";
      const place = home?.(partition, fips) ?? { region, host: `${signingName}${fips ? "-fips" : ""}.${region}.${partition.dnsSuffix}` };
      const settings = {
        ...config,
        endpoint: endpoint ?? `https://${place.host}`,
        useFipsEndpoint: false,
        useDualstackEndpoint: false,
        serviceId,
        ...(protocol && { protocol: protocol.protocol }),
        protocolSettings: { defaultNamespace: namespace, serviceTarget: target, ...protocol?.settings },
        httpAuthSchemeProvider: () => [
          {
            schemeId: "aws.auth#sigv4",
            signingProperties: { name: signingName, region: place.region },
            propertiesExtractor: (resolved: object, context: object) => ({ signingProperties: { config: resolved, context } }),
          },
        ],
      };
      super(settings as unknown as WAFV2ClientConfig);
    }
  };
}

/** Kinds of a static schema. */
const [list, structure, operation] = [1, 3, 9];
/** A text, a whole number, a truth value, and a list of texts, as schemas write them. */
export const text = 0;
export const integer = 1;
export const boolean = 2;
export const texts = 64;

/** With its traits where it has some: a parameter in the path or behind it. */
type Member = StaticStructureSchema | StaticListSchema | number | readonly [number, Readonly<Record<string, unknown>>];

/** What the calls of a service are written with. */
export function schemasOf({ namespace }: BorrowedService) {
  return {
    /** The first so many members are required. */
    struct: (name: string, members: Readonly<Record<string, Member>>, required = 0): StaticStructureSchema =>
      [structure, namespace, name, 0, Object.keys(members), Object.values(members), required] as unknown as StaticStructureSchema,
    /** In XML its items have a name. */
    listOf: (name: string, member: StaticStructureSchema, xmlName?: string): StaticListSchema =>
      [list, namespace, name, 0, xmlName ? [member, { xmlName }] : member] as unknown as StaticListSchema,
    /** `http`: method, path and status, where these say what is asked for. */
    operation: (
      name: string,
      input: StaticStructureSchema,
      output: StaticStructureSchema,
      http?: readonly [method: string, path: string, status: number],
    ): StaticOperationSchema => [operation, namespace, name, http ? { http } : 0, input, output] as unknown as StaticOperationSchema,
  };
}

/** Makes the command classes of a service from the schemas of its operations. */
export function commandsOf({ target, serviceId }: BorrowedService) {
  const build = makeBuilder<never, object, MetadataBearer>(
    { Endpoint: { type: "builtInParams", name: "endpoint" } },
    target,
    `${serviceId.replaceAll(" ", "")}Client`,
    getEndpointPlugin,
  );
  return <Input extends object, Output>(schema: StaticOperationSchema) =>
    build<Input, Output & MetadataBearer>({}, () => [], (schema as unknown as readonly [number, string, string])[2], schema);
}
