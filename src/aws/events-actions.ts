/** The actions of EventBridge. */
import { actionsOf } from "./actions.ts";

const events = actionsOf("events", () => import("./sdk/events.ts"));

export const describeRule = events("DescribeRule", (sdk) => sdk.DescribeRuleCommand);
export const listRuleNamesByTarget = events("ListRuleNamesByTarget", (sdk) => sdk.ListRuleNamesByTargetCommand);
export const listTargetsByRule = events("ListTargetsByRule", (sdk) => sdk.ListTargetsByRuleCommand);
export const putRule = events("PutRule", (sdk) => sdk.PutRuleCommand);
export const putTargets = events("PutTargets", (sdk) => sdk.PutTargetsCommand);
