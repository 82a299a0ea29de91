/** What is used of the client of AWS WAF. */
export {
  AssociateWebACLCommand,
  DisassociateWebACLCommand,
  GetWebACLForResourceCommand,
  ListWebACLsCommand,
  WAFV2Client as Client,
} from "@aws-sdk/client-wafv2";
