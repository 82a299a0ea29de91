/** What of the cluster nobody but the doctor asks. */
import { leases, serviceAccounts, subjectAccessReviews } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { AccessNeed } from "./access.ts";
import type { AccessAnswer, LeaseFacts } from "./picture.ts";

/** Whether the service account (`namespace/name`) may do all this. A review is sent like a write and changes nothing. */
export async function askAccess(
  kube: KubeClient,
  account: string,
  needed: readonly AccessNeed[],
  signal: AbortSignal,
): Promise<readonly AccessAnswer[]> {
  const [namespace = "", name = ""] = account.split("/");
  const user = `system:serviceaccount:${namespace}:${name}`;
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  const ask = async (need: AccessNeed): Promise<AccessAnswer> => {
    const { features: _, ...resourceAttributes } = need;
    const review = { spec: { user, groups, resourceAttributes } };
    const { status } = await kube.create(subjectAccessReviews, review, { signal, repeatable: true });
    return { need, allowed: status?.allowed === true };
  };
  return await Promise.all(needed.map(ask));
}

/** `v1.36.3` */
export async function askVersion(kube: KubeClient, signal: AbortSignal): Promise<string> {
  const { gitVersion } = JSON.parse(await kube.raw("/version", { signal })) as { readonly gitVersion?: string };
  if (gitVersion === undefined) throw new Error("the API server gives no version");
  return gitVersion;
}

/** Who leads; undefined when nobody does. */
export async function askLease(kube: KubeClient, now: number, signal: AbortSignal): Promise<LeaseFacts | undefined> {
  try {
    const lease = await kube.get(leases, { namespace: "kube-system", name: "cloud-controller-manager" }, { signal });
    const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease.spec ?? {};
    if (!holderIdentity) return undefined;
    const written = [...(lease.metadata.managedFields ?? [])].sort((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1));
    return {
      holder: holderIdentity,
      writer: written[0]?.manager ?? "",
      fresh: now - Date.parse(renewTime ?? "") < leaseDurationSeconds * 1000,
    };
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  }
}

/** The role that EKS's webhook gives to pods of the service account (`namespace/name`); undefined when there is none. */
export async function askRole(kube: KubeClient, account: string, signal: AbortSignal): Promise<string | undefined> {
  const [namespace = "", name = ""] = account.split("/");
  try {
    const { metadata } = await kube.get(serviceAccounts, { namespace, name }, { signal });
    return metadata.annotations?.["eks.amazonaws.com/role-arn"] || undefined;
  } catch (error) {
    if (isApiError(error, "not-found", "forbidden")) return undefined;
    throw error;
  }
}
