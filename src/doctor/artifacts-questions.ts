/** What a node manager needs of the provider, as its readers see it: whether machines can be made from what is there. */
import { parse } from "yaml";
import { configMaps, secrets } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { Frozen } from "../kube/resource.ts";
import type { Secret } from "../kube/types.ts";
import { type Finding, problem } from "./finding.ts";

/** The Secrets; undefined where there is none, `unread` where they may not be read. */
export interface ArtifactsFacts {
  readonly registration: SecretFact;
  readonly twin: SecretFact;
  readonly templates: SecretFact;
  /** The script that every node begins with. */
  readonly bootstrap: SecretFact;
  /** Whether the settings of the keeper leave scripts to somebody else. */
  readonly scriptsAreOff: boolean;
}

type SecretFact = Frozen<Secret> | "unread" | undefined;

const registration = "d8-node-manager-cloud-provider";
const templates = "d8-cloud-provider-aws-mcm";
const bootstrap = "d8-cloud-provider-aws-bashible-bootstrap";
/** By the chart's labels, wherever it is installed; and where the keeper looks without a flag. */
const settingsLabels = "app.kubernetes.io/part-of=fairlead,app.kubernetes.io/component=artifacts";
const settingsMap = { namespace: "kube-system", name: "fairlead-artifacts" };

export async function askArtifacts(kube: KubeClient, signal: AbortSignal): Promise<ArtifactsFacts> {
  const read = (name: string) => ifReadable(kube.get(secrets, { namespace: "kube-system", name }, { signal }));
  const [own, twin, made, scripts, labelled, named] = await Promise.all([
    read(registration),
    read(`${registration}-aws`),
    read(templates),
    read(bootstrap),
    ifReadable(kube.list(configMaps, { labelSelector: settingsLabels, signal })),
    ifReadable(kube.get(configMaps, settingsMap, { signal })),
  ]);
  const settings = [...(isRead(labelled) ? labelled.items : []), ...(isRead(named) ? [named] : [])];
  const scriptsAreOff = settings.some(({ data }) => turnsScriptsOff(data?.["settings.yaml"] ?? ""));
  return { registration: own, twin, templates: made, bootstrap: scripts, scriptsAreOff };
}

function isRead<T extends object>(fact: T | "unread" | undefined): fact is T {
  return typeof fact === "object";
}

async function ifReadable<T>(work: Promise<T>): Promise<T | "unread" | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    if (isApiError(error, "forbidden")) return "unread";
    throw error;
  }
}

/** What is wrong with settings the keeper tells. */
function turnsScriptsOff(text: string): boolean {
  try {
    const settings = parse(text, { logLevel: "error" }) as { readonly bashible?: { readonly enabled?: unknown } } | null;
    return settings?.bashible?.enabled === false;
  } catch {
    return false;
  }
}

const registrationKeys = ["type", "region", "zones", "instanceClassAPIVersion", "instanceClassKind", "machineClassKind", "aws"];
const bootstrapKeys = ["bootstrap-networks.sh.tpl"];
const templateKeys = ["machine-class.yaml", "machine-class.checksum", "config-for-machine-controller-manager.yaml"];

/** A cluster that no node manager makes machines for has none of them, and nothing is said; nor of what may not be read. */
export function checkArtifacts(facts: ArtifactsFacts): readonly Finding[] {
  const { registration: own, twin, templates: made, bootstrap: scripts, scriptsAreOff } = facts;
  if (!isRead(own) || decoded(own.data?.type) !== "aws") return [];
  const lacks = (of: SecretFact, keys: readonly string[]) => (of === "unread" ? [] : keys.filter((key) => !of?.data?.[key]));
  const lost = lacks(own, registrationKeys);
  const unmade = lacks(made, templateKeys);
  const unnamed = scriptsAreOff && scripts === undefined ? [] : lacks(scripts, bootstrapKeys);
  const differs = twin === "unread" ? [] : registrationKeys.filter((key) => twin?.data?.[key] !== own.data?.[key]);
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
