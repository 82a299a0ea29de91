/** The few operations of WAF Classic that are used, in the form in which newer SDK clients bring theirs. */
import { schemasOf, text } from "./borrowed-client.ts";

export const wafRegional = {
  serviceId: "WAF Regional",
  signingName: "waf-regional",
  namespace: "com.amazonaws.wafregional",
  target: "AWSWAF_Regional_20161128",
};
const { struct, operation } = schemasOf(wafRegional);

export const AssociateWebACL$ = operation(
  "AssociateWebACL",
  struct("AssociateWebACLRequest", { WebACLId: text, ResourceArn: text }, 2),
  struct("AssociateWebACLResponse", {}),
);
export const DisassociateWebACL$ = operation(
  "DisassociateWebACL",
  struct("DisassociateWebACLRequest", { ResourceArn: text }, 1),
  struct("DisassociateWebACLResponse", {}),
);
export const GetWebACLForResource$ = operation(
  "GetWebACLForResource",
  struct("GetWebACLForResourceRequest", { ResourceArn: text }, 1),
  struct("GetWebACLForResourceResponse", { WebACLSummary: struct("WebACLSummary", { WebACLId: text, Name: text }) }),
);
