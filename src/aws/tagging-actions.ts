/** The actions of the Resource Groups Tagging API. */
import { actionsOf } from "./actions.ts";

const tagging = actionsOf("tagging", () => import("./sdk/tagging.ts"));

export const getResources = tagging("GetResources", (sdk) => sdk.GetResourcesCommand);
