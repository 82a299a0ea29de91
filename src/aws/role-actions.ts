/** The actions of roles and the policies inside them. */
import { actionsOf } from "./actions.ts";

const iam = actionsOf("iam", () => import("./sdk/iam.ts"));

export const getRole = iam("GetRole", (sdk) => sdk.GetRoleCommand);
export const createRole = iam("CreateRole", (sdk) => sdk.CreateRoleCommand);
export const getRolePolicy = iam("GetRolePolicy", (sdk) => sdk.GetRolePolicyCommand);
export const putRolePolicy = iam("PutRolePolicy", (sdk) => sdk.PutRolePolicyCommand);
