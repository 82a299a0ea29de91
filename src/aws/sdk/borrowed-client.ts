/**
 * Clients of services that are asked for a few calls only, where their own SDK client would be a dependency for little: one of another
 * generation (WAF Classic), or one more for five calls of a set-up command (EventBridge). They speak the protocol of WAF, whose client is
 * here anyway: it speaks to them under their name, with schemas of just these calls.
 */
import { WAFV2Client, type WAFV2ClientConfig } from "@aws-sdk/client-wafv2";
import { makeBuilder } from "@smithy/core/client";
import { getEndpointPlugin } from "@smithy/core/endpoints";
import type { MetadataBearer, StaticListSchema, StaticOperationSchema, StaticStructureSchema } from "@smithy/types";
import { partitionOf } from "../partitions.ts";
import type { clientConfig } from "./client.ts";

/** What a service is called in the places that have its name. */
export interface BorrowedService {
  readonly serviceId: string;
  /** In signatures, and the beginning of its host. */
  readonly signingName: string;
  readonly namespace: string;
  /** The prefix of `x-amz-target`. */
  readonly target: string;
}

/** The client class of a service. */
export function borrowedClient({ serviceId, signingName, namespace, target }: BorrowedService) {
  return class extends WAFV2Client {
    constructor(config: ReturnType<typeof clientConfig>) {
      const { region, endpoint, useFipsEndpoint } = config;
      const { name, dnsSuffix } = partitionOf(region);
      // In GovCloud every endpoint is one.
      const fips = useFipsEndpoint && name !== "aws-us-gov" ? "-fips" : "";
      const settings = {
        ...config,
        endpoint: endpoint ?? `https://${signingName}${fips}.${region}.${dnsSuffix}`,
        useFipsEndpoint: false,
        useDualstackEndpoint: false,
        serviceId,
        protocolSettings: { defaultNamespace: namespace, serviceTarget: target },
        httpAuthSchemeProvider: () => [
          {
            schemeId: "aws.auth#sigv4",
            signingProperties: { name: signingName, region },
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
/** A text, a whole number, and a list of texts, as schemas write them. */
export const text = 0;
export const integer = 1;
export const texts = 64;

type Member = StaticStructureSchema | StaticListSchema | number;

/** What the calls of a service are written with. */
export function schemasOf({ namespace }: BorrowedService) {
  return {
    /** The first so many members are required. */
    struct: (name: string, members: Readonly<Record<string, Member>>, required = 0): StaticStructureSchema =>
      [structure, namespace, name, 0, Object.keys(members), Object.values(members), required] as unknown as StaticStructureSchema,
    listOf: (name: string, member: StaticStructureSchema): StaticListSchema =>
      [list, namespace, name, 0, member] as unknown as StaticListSchema,
    operation: (name: string, input: StaticStructureSchema, output: StaticStructureSchema): StaticOperationSchema =>
      [operation, namespace, name, 0, input, output] as unknown as StaticOperationSchema,
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
