/** The actions of Shield Advanced. */
import { actionsOf } from "./actions.ts";

const shield = actionsOf("shield", () => import("./sdk/shield.ts"));

export const getSubscriptionState = shield("GetSubscriptionState", (sdk) => sdk.GetSubscriptionStateCommand);
export const describeProtection = shield("DescribeProtection", (sdk) => sdk.DescribeProtectionCommand);
export const createProtection = shield("CreateProtection", (sdk) => sdk.CreateProtectionCommand);
export const deleteProtection = shield("DeleteProtection", (sdk) => sdk.DeleteProtectionCommand);
