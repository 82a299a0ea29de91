/** WAF Classic. Its own SDK client is of the generation before schemas and would bring that whole generation along for three calls. */
import { borrowedClient, commandsOf, schemasOf, text } from "./borrowed-client.ts";

const service = {
  serviceId: "WAF Regional",
  signingName: "waf-regional",
  namespace: "com.amazonaws.wafregional",
  target: "AWSWAF_Regional_20161128",
};
const { struct, operation } = schemasOf(service);
const command = commandsOf(service);

export const Client = borrowedClient(service);

interface Resource {
  readonly ResourceArn: string | undefined;
}

export const AssociateWebACLCommand = command<Resource & { readonly WebACLId: string | undefined }, object>(
  operation(
    "AssociateWebACL",
    struct("AssociateWebACLRequest", { WebACLId: text, ResourceArn: text }, 2),
    struct("AssociateWebACLResponse", {}),
  ),
);
export const DisassociateWebACLCommand = command<Resource, object>(
  operation("DisassociateWebACL", struct("DisassociateWebACLRequest", { ResourceArn: text }, 1), struct("DisassociateWebACLResponse", {})),
);
export const GetWebACLForResourceCommand = command<Resource, { readonly WebACLSummary?: { readonly WebACLId?: string } }>(
  operation(
    "GetWebACLForResource",
    struct("GetWebACLForResourceRequest", { ResourceArn: text }, 1),
    struct("GetWebACLForResourceResponse", { WebACLSummary: struct("WebACLSummary", { WebACLId: text, Name: text }) }),
  ),
);
