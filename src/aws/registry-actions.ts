/** What pulling an image takes. The credential provider makes its one call without the SDK; these are for asking whether it may. */
import { actionsOf } from "./actions.ts";

const ecr = actionsOf("ecr", () => import("./sdk/ecr.ts"));
const ecrPublic = actionsOf("ecr-public", () => import("./sdk/ecr-public.ts"));

export const getAuthorizationToken = ecr("GetAuthorizationToken", (sdk) => sdk.GetAuthorizationTokenCommand);
export const batchGetImage = ecr("BatchGetImage", (sdk) => sdk.BatchGetImageCommand);
export const getDownloadUrl = ecr("GetDownloadUrlForLayer", (sdk) => sdk.GetDownloadUrlForLayerCommand);
export const getPublicAuthorizationToken = ecrPublic("GetAuthorizationToken", (sdk) => sdk.GetAuthorizationTokenCommand);
