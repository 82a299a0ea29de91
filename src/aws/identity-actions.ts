/** Who somebody is to AWS, and what their policies say. */
import { actionsOf } from "./actions.ts";

const sts = actionsOf("sts", () => import("./sdk/sts.ts"));
const iam = actionsOf("iam", () => import("./sdk/iam.ts"));

export const getCallerIdentity = sts("GetCallerIdentity", (sdk) => sdk.GetCallerIdentityCommand);
export const simulatePrincipalPolicy = iam("SimulatePrincipalPolicy", (sdk) => sdk.SimulatePrincipalPolicyCommand);
