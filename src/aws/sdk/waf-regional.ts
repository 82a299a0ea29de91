/** WAF Classic. Its own SDK client is of the generation before schemas and would bring that whole generation along for three calls. */
import { borrowedClient, commandsOf } from "./borrowed-client.ts";
import { AssociateWebACL$, DisassociateWebACL$, GetWebACLForResource$, wafRegional } from "./waf-regional-schemas.ts";

const command = commandsOf(wafRegional);

export const Client = borrowedClient(wafRegional);

interface Resource {
  readonly ResourceArn: string | undefined;
}

export const AssociateWebACLCommand = command<Resource & { readonly WebACLId: string | undefined }, object>(AssociateWebACL$);
export const DisassociateWebACLCommand = command<Resource, object>(DisassociateWebACL$);
export const GetWebACLForResourceCommand = command<Resource, { readonly WebACLSummary?: { readonly WebACLId?: string } }>(
  GetWebACLForResource$,
);
