/** The actions of AWS WAF, and of WAF Classic in a region. */
import { actionsOf } from "./actions.ts";

const wafv2 = actionsOf("wafv2", () => import("./sdk/wafv2.ts"));

export const listWebAcls = wafv2("ListWebACLs", (sdk) => sdk.ListWebACLsCommand);
export const getWebAclForResource = wafv2("GetWebACLForResource", (sdk) => sdk.GetWebACLForResourceCommand);
export const associateWebAcl = wafv2("AssociateWebACL", (sdk) => sdk.AssociateWebACLCommand);
export const disassociateWebAcl = wafv2("DisassociateWebACL", (sdk) => sdk.DisassociateWebACLCommand);

const wafRegional = actionsOf("waf-regional", () => import("./sdk/waf-regional.ts"));

export const getClassicWebAclForResource = wafRegional("GetWebACLForResource", (sdk) => sdk.GetWebACLForResourceCommand);
export const associateClassicWebAcl = wafRegional("AssociateWebACL", (sdk) => sdk.AssociateWebACLCommand);
export const disassociateClassicWebAcl = wafRegional("DisassociateWebACL", (sdk) => sdk.DisassociateWebACLCommand);
