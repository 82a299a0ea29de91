/** The actions of Route 53. */
import { actionsOf } from "./actions.ts";

const route53 = actionsOf("route53", () => import("./sdk/route53.ts"));

export const listHostedZones = route53("ListHostedZones", (sdk) => sdk.ListHostedZonesCommand);
export const changeResourceRecordSets = route53("ChangeResourceRecordSets", (sdk) => sdk.ChangeResourceRecordSetsCommand);
