/** Asks the API server whom a token belongs to, and whether they may. */
import { subjectAccessReviews, tokenReviews } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Reviews } from "./auth.ts";

const timeoutMs = 5_000;

/** Reviews through this client, not remembered. */
export function apiServerReviews(kube: KubeClient): Reviews {
  const options = { timeoutMs, repeatable: true };
  return {
    async authenticate(token) {
      const { status } = await kube.create(tokenReviews, { spec: { token } }, options);
      const { username, uid, groups, extra } = status?.user ?? {};
      return status?.authenticated && username
        ? { name: username, groups: groups ?? [], ...(uid && { uid }), ...(extra && { extra }) }
        : undefined;
    },
    async authorize({ name, uid, groups, extra }, verb, { apiGroup, apiVersion, ...rest }) {
      const resourceAttributes = { ...rest, verb, ...(apiGroup && { group: apiGroup }), ...(apiVersion && { version: apiVersion }) };
      const more = extra && { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) };
      const spec = { user: name, groups: [...groups], ...(uid && { uid }), ...more, resourceAttributes };
      const { status } = await kube.create(subjectAccessReviews, { spec }, options);
      return status?.allowed === true && status.denied !== true;
    },
  };
}
