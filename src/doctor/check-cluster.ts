/** Checks of the cluster: its API, who leads, and what kubelets have registered. */
import { regionOfZone } from "../aws/regions.ts";
import { claimOf, type NodeView } from "../identity/node-view.ts";
import { oldestMinor, testedMinors, testedText } from "../process/tested.ts";
import { needText } from "./access.ts";
import { type Finding, ok, problem, some, warning } from "./finding.ts";
import { type Picture, type ProgramAccess, valueIn } from "./picture.ts";
import { programsWith } from "./programs.ts";

export function checkServer({ server }: Picture): readonly Finding[] {
  if (!server.known) return [problem("api server", server.why, "kubectl version   # check --kubeconfig, or the pod's service account")];
  const minor = Number(/^v1\.(\d+)/.exec(server.value)?.[1]);
  if (minor < oldestMinor) {
    return [problem("api server", `${server.value} is older than 1.${oldestMinor}`, "# upgrade the control plane first")];
  }
  if (!testedMinors.includes(minor)) {
    return [warning("api server", `${server.value} is outside of what is tested (${testedText})`, "# take the release for this minor")];
  }
  return [ok("api server", server.value)];
}

export function checkAccess({ access }: Picture): readonly Finding[] {
  if (!access.known) {
    const remedy = "# run it as a user who may create subjectaccessreviews, such as the service account itself";
    return [warning("access", `cannot be checked: ${access.why}`, remedy)];
  }
  return access.value.flatMap(accessOf);
}

function accessOf({ account, answers }: ProgramAccess): readonly Finding[] {
  const missing = answers.filter(({ allowed }) => !allowed).map(({ need }) => needText(need));
  if (missing.length === 0) return [ok("access", `${account} may do all ${answers.length} things it needs`)];
  if (missing.length === answers.length) {
    const what = `${account} may do none of the ${missing.length} things it needs: Fairlead is not installed yet, or without its roles`;
    return [warning("access", what, "# install it, or upgrade its release with the values it has: docs/install.md")];
  }
  return missing.map((need) =>
    problem("access", `${account} may not ${need}`, "kubectl apply --server-side -f deploy/manifests/rbac.yaml"),
  );
}

export function checkLease({ lease, features }: Picture): readonly Finding[] {
  if (!runsManager(features)) return [];
  if (!lease.known) return [warning("lease", lease.why, "kubectl -n kube-system get lease cloud-controller-manager")];
  const facts = lease.value;
  if (facts === undefined || !facts.fresh) return [ok("lease", "nobody leads")];
  if (facts.writer === "" || facts.writer.startsWith("fairlead")) return [ok("lease", `${facts.holder} leads`)];
  return [
    warning(
      "lease",
      `${facts.holder} leads, and it is ${facts.writer}: Fairlead waits until it is gone`,
      "kubectl -n kube-system delete daemonset aws-cloud-controller-manager   # when you are ready to migrate",
    ),
  ];
}

export function checkControllers({ controllers, features }: Picture): readonly Finding[] {
  if (!runsManager(features)) return [];
  const pods = valueIn(controllers);
  if (pods === undefined || pods.length < 2) return [];
  const leases = [...new Set(pods.map(({ lease }) => lease))];
  if (leases.length === 1 && leases[0] !== undefined) return [ok("controllers", `${pods.length} pods, of which one leads by ${leases[0]}`)];
  const each = pods.map(({ pod, lease }) => `${pod} (${lease === undefined ? "no election" : `Lease ${lease}`})`);
  return [
    problem(
      "controllers",
      `several work at once, against each other: ${some(each)}`,
      "# give all of them the same --leader-elect-resource-name and namespace, and none --leader-elect=false; or remove all but one",
    ),
  ];
}

const runsManager = (features: Picture["features"]) => programsWith(features).some(({ name }) => name === "controller-manager");

const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized";
const patienceMs = 5 * 60_000;

export function checkKubelets({ nodes, now }: Picture): readonly Finding[] {
  if (!nodes.known) return [problem("kubelets", nodes.why, "kubectl get nodes")];
  const findings: Finding[] = [];
  const tainted = (node: NodeView) => node.taints.some(({ key }) => key === uninitialized);
  const internal = nodes.value.filter((node) => node.providerId === "" && !tainted(node)).map(({ metadata }) => metadata.name);
  if (internal.length > 0) {
    findings.push(
      problem(
        "kubelets",
        `without a provider ID and without the taint of a new node: ${some(internal)}; their kubelet lacks --cloud-provider=external`,
        "# add --cloud-provider=external to kubelet's flags, then: kubectl delete node NAME   # kubelet registers it again",
      ),
    );
  }
  const stuck = nodes.value.filter((node) => tainted(node) && now - Date.parse(node.metadata.creationTimestamp) > patienceMs);
  if (stuck.length > 0) {
    const names = stuck.map(({ metadata }) => metadata.name);
    findings.push(warning("kubelets", `not initialised for more than 5 minutes: ${some(names)}`, `kubectl describe node ${names[0]}`));
  }
  return findings.length > 0 ? findings : [ok("kubelets", `${nodes.value.length} nodes, all with an external cloud provider`)];
}

export function checkProviderIds(picture: Picture): readonly Finding[] {
  const nodes = valueIn(picture.nodes);
  if (nodes === undefined) return [];
  const instances = valueIn(picture.instances);
  const region = valueIn(picture.caller)?.region;
  const findings: Finding[] = [];
  // Where none is known, what is wrong is more likely to be the account or the region that is asked than every Node.
  const isAnyKnown = instances?.values().some(({ kind }) => kind === "found") ?? false;
  const claimants = new Map<string, string[]>();
  for (const node of nodes) {
    const { name } = node.metadata;
    const claim = claimOf(node);
    const wrong = (what: string, remedy: string) => findings.push(problem("provider ids", `${name}: ${what}`, remedy));
    const corrected = `kubectl delete node ${name}   # after setting kubelet's --provider-id to aws:///ZONE/INSTANCE, or unsetting it`;
    if (claim.kind === "invalid") wrong(claim.reason, corrected);
    if (claim.kind === "foreign") findings.push(foreignFinding(node));
    if (claim.kind !== "instance") continue;
    claimants.set(claim.instanceId, [...(claimants.get(claim.instanceId) ?? []), name]);
    if (claim.zone !== undefined && region !== undefined && safeRegion(claim.zone) !== region) {
      wrong(`zone ${claim.zone} is not in ${region}`, isAnyKnown ? corrected : notThisAccount);
    } else if (instances?.get(claim.instanceId)?.kind === "not-found") {
      wrong(`EC2 in ${region} does not know ${claim.instanceId} with these credentials`, isAnyKnown ? corrected : notThisAccount);
    }
  }
  for (const [id, names] of claimants) {
    if (names.length < 2) continue;
    findings.push(
      problem(
        "provider ids",
        `${id} is claimed by ${names.join(" and ")}`,
        `kubectl delete node ${names[1]}   # the one whose kubelet is gone`,
      ),
    );
  }
  return findings.length > 0 ? findings : [ok("provider ids", `${claimants.size} instances, each of one node`)];
}

/** A machine elsewhere may be there on purpose; nothing of ours touches it. */
function foreignFinding({ metadata: { name }, providerId }: NodeView): Finding {
  const what = `${name}: it is a machine of another cloud (${providerId}), and is not touched`;
  return warning("provider ids", what, "# nothing, if it is; otherwise correct kubelet's --provider-id, and only then delete the Node");
}

const notThisAccount =
  "aws sts get-caller-identity   # is this the account of the cluster, and the region? Until it is, no Node is to be deleted for this";

function safeRegion(zone: string): string | undefined {
  try {
    return regionOfZone(zone);
  } catch {
    return undefined;
  }
}
