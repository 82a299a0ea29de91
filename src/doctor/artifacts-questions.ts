/** What a node manager needs of the provider, as its readers see it: whether machines can be made from what is there. */
import { secrets } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { Frozen } from "../kube/resource.ts";
import type { Secret } from "../kube/types.ts";
import { type Finding, problem } from "./finding.ts";

/** The Secrets; undefined where there is none, or where they may not be read. */
export interface ArtifactsFacts {
  readonly registration: Frozen<Secret> | undefined;
  readonly twin: Frozen<Secret> | undefined;
  readonly templates: Frozen<Secret> | undefined;
  /** The script that every node begins with. */
  readonly bootstrap: Frozen<Secret> | undefined;
}

const registration = "d8-node-manager-cloud-provider";
const templates = "d8-cloud-provider-aws-mcm";
const bootstrap = "d8-cloud-provider-aws-bashible-bootstrap";

export async function askArtifacts(kube: KubeClient, signal: AbortSignal): Promise<ArtifactsFacts> {
  const read = async (name: string) => {
    try {
      return await kube.get(secrets, { namespace: "kube-system", name }, { signal });
    } catch (error) {
      if (isApiError(error, "not-found") || isApiError(error, "forbidden")) return undefined;
      throw error;
    }
  };
  const [own, twin, made, scripts] = await Promise.all([read(registration), read(`${registration}-aws`), read(templates), read(bootstrap)]);
  return { registration: own, twin, templates: made, bootstrap: scripts };
}

const registrationKeys = ["type", "region", "zones", "instanceClassAPIVersion", "instanceClassKind", "machineClassKind", "aws"];
const bootstrapKeys = ["bootstrap-networks.sh.tpl"];
const templateKeys = ["machine-class.yaml", "machine-class.checksum", "config-for-machine-controller-manager.yaml"];

/** A cluster that no node manager makes machines for has none of them, and nothing is said. */
export function checkArtifacts({ registration: own, twin, templates: made, bootstrap: scripts }: ArtifactsFacts): readonly Finding[] {
  if (own === undefined || decoded(own.data?.type) !== "aws") return [];
  const lacks = (of: Frozen<Secret> | undefined, keys: readonly string[]) => keys.filter((key) => !of?.data?.[key]);
  const lost = lacks(own, registrationKeys);
  const unmade = lacks(made, templateKeys);
  const unnamed = lacks(scripts, bootstrapKeys);
  const differs = registrationKeys.filter((key) => twin?.data?.[key] !== own.data?.[key]);
  return [
    ...(lost.length > 0 ? [`Secret kube-system/${registration} lacks ${lost.join(", ")}: no NodeGroup can be rendered`] : []),
    ...(differs.length > 0
      ? [`Secret kube-system/${registration}-aws does not say the same as ${registration}: ${differs.join(", ")}`]
      : []),
    ...(unmade.length > 0 ? [`Secret kube-system/${templates} lacks ${unmade.join(", ")}: no machine can be made`] : []),
    ...(unnamed.length > 0
      ? [`Secret kube-system/${bootstrap} lacks ${unnamed.join(", ")}: machines do not get the names by which their Nodes are known`]
      : []),
  ].map((what) =>
    problem("discovery", what, "helm upgrade … --set artifacts.enabled=true; then kubectl get events --namespace=kube-system"),
  );
}

function decoded(value: string | undefined): string {
  return Buffer.from(value ?? "", "base64").toString("utf8");
}
