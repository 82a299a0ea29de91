/**
 * WAF Classic. Its own SDK client is of the generation before schemas and would bring that whole generation along for three
 * calls; it speaks the protocol of WAF, so the client of WAF speaks to it here, under its name and with schemas of those calls.
 */
import { WAFV2Client, type WAFV2ClientConfig } from "@aws-sdk/client-wafv2";
import { makeBuilder } from "@smithy/core/client";
import { getEndpointPlugin } from "@smithy/core/endpoints";
import type { MetadataBearer, StaticOperationSchema, StaticStructureSchema } from "@smithy/types";
import { partitionOf } from "../partitions.ts";
import type { clientConfig } from "./client.ts";

const namespace = "com.amazonaws.wafregional";
const signingName = "waf-regional";
const target = "AWSWAF_Regional_20161128";

export class Client extends WAFV2Client {
  constructor(config: ReturnType<typeof clientConfig>) {
    const { region, endpoint, useFipsEndpoint } = config;
    const host = `waf-regional${useFipsEndpoint ? "-fips" : ""}.${region}.${partitionOf(region).dnsSuffix}`;
    const settings = {
      ...config,
      endpoint: endpoint ?? `https://${host}`,
      useFipsEndpoint: false,
      useDualstackEndpoint: false,
      serviceId: "WAF Regional",
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
}

/** Kinds of a static schema: a text, a structure, an operation. */
const [text, structure, operation] = [0, 3, 9];

function struct(name: string, members: Readonly<Record<string, StaticStructureSchema | number>>, required = 0): StaticStructureSchema {
  return [structure, namespace, name, 0, Object.keys(members), Object.values(members), required] as unknown as StaticStructureSchema;
}

const build = makeBuilder<never, object, MetadataBearer>(
  { Endpoint: { type: "builtInParams", name: "endpoint" } },
  target,
  "WAFRegionalClient",
  getEndpointPlugin,
);

function command<Input extends object, Output>(name: string, input: StaticStructureSchema, output: StaticStructureSchema) {
  const schema = [operation, namespace, name, 0, input, output] as unknown as StaticOperationSchema;
  return build<Input, Output & MetadataBearer>({}, () => [], name, schema);
}

interface Resource {
  readonly ResourceArn: string | undefined;
}

export const AssociateWebACLCommand = command<Resource & { readonly WebACLId: string | undefined }, object>(
  "AssociateWebACL",
  struct("AssociateWebACLRequest", { WebACLId: text, ResourceArn: text }, 2),
  struct("AssociateWebACLResponse", {}),
);
export const DisassociateWebACLCommand = command<Resource, object>(
  "DisassociateWebACL",
  struct("DisassociateWebACLRequest", { ResourceArn: text }, 1),
  struct("DisassociateWebACLResponse", {}),
);
export const GetWebACLForResourceCommand = command<Resource, { readonly WebACLSummary?: { readonly WebACLId?: string } }>(
  "GetWebACLForResource",
  struct("GetWebACLForResourceRequest", { ResourceArn: text }, 1),
  struct("GetWebACLForResourceResponse", { WebACLSummary: struct("WebACLSummary", { WebACLId: text, Name: text }) }),
);
