/** Which cluster the things of the account say they belong to. Nothing that is tagged for another cluster is advised to be tagged for this one. */
import type { Instance, Tags } from "../aws/instance.ts";
import { clusterTagPrefix, legacyClusterTag } from "../identity/cluster-id.ts";
import { hasClusterTag } from "../identity/ownership.ts";
import { type Finding, ok, problem, some } from "./finding.ts";
import { liveInstances, type Picture, valueIn } from "./picture.ts";

/** The clusters that a thing is tagged for. */
export function clustersIn(tags: Tags): readonly string[] {
  const ids = Object.keys(tags).flatMap((key) => (key.startsWith(clusterTagPrefix) ? [key.slice(clusterTagPrefix.length)] : []));
  const legacy = tags[legacyClusterTag];
  return [...new Set([...ids, ...(legacy ? [legacy] : [])])].filter((id) => id !== "");
}

/**
 * The cluster that the instances of Nodes are really tagged for, when it is another than the one that is configured. Then
 * everything else that lacks "the cluster's tag" follows from this.
 */
export function clusterMeant(picture: Picture): string | undefined {
  const cluster = valueIn(picture.cluster);
  const instances = liveInstances(picture);
  if (cluster === undefined || instances.some(({ tags }) => hasClusterTag(tags, cluster))) return undefined;
  return commonCluster(instances);
}

/** The one cluster that every tagged instance is tagged for. */
function commonCluster(instances: readonly Instance[]): string | undefined {
  const tagged = instances.map(({ tags }) => clustersIn(tags)).filter((ids) => ids.length > 0);
  const [first = [], ...others] = tagged;
  const common = first.filter((id) => others.every((ids) => ids.includes(id)));
  return common.length === 1 ? common[0] : undefined;
}

export function checkClusterId(picture: Picture): readonly Finding[] {
  const { cluster, vpc } = picture;
  const meant = clusterMeant(picture);
  if (cluster.known && meant !== undefined) {
    return [
      problem(
        "cluster id",
        `it is set to ${cluster.value.id}, but the instances of the Nodes are tagged for ${meant}`,
        `# set KubernetesClusterID=${meant} in the [Global] section of the cloud config; tag nothing for ${cluster.value.id}`,
      ),
    ];
  }
  if (cluster.known) return [ok("cluster id", `${cluster.value.id}${vpc === undefined ? "" : ` in ${vpc}`}`)];
  return cluster.kind === "failed" ? [problem("cluster id", cluster.why, idRemedy(liveInstances(picture)))] : [];
}

function idRemedy(instances: readonly Instance[]): string {
  const common = commonCluster(instances);
  const contradictory = instances.find(({ tags }) => clustersIn(tags).length > 1);
  if (contradictory !== undefined) return `${untag(contradictory, common)}   # exactly one such tag on each instance`;
  const untagged = instances.filter(({ tags }) => clustersIn(tags).length === 0).map(({ id }) => id);
  const which = untagged.length > 0 ? untagged.join(" ") : "INSTANCE";
  return `aws ec2 create-tags --resources ${which} --tags Key=${clusterTagPrefix}${common ?? "CLUSTER"},Value=owned`;
}

/** Takes away the tags of all clusters but one. */
function untag({ id, tags }: Instance, cluster: string | undefined): string {
  const others = clustersIn(tags).filter((each) => each !== cluster);
  const keys = others.flatMap((each) => [
    ...(tags[clusterTagPrefix + each] === undefined ? [] : [clusterTagPrefix + each]),
    ...(tags[legacyClusterTag] === each ? [legacyClusterTag] : []),
  ]);
  const wrong = cluster === undefined ? [`${clusterTagPrefix}THE_WRONG_ONE`] : keys;
  return `aws ec2 delete-tags --resources ${id} --tags ${wrong.map((key) => `Key=${key}`).join(" ")}`;
}

export function checkInstances(picture: Picture): readonly Finding[] {
  const cluster = valueIn(picture.cluster);
  const instances = liveInstances(picture);
  if (cluster === undefined || instances.length === 0) return [];
  const findings: Finding[] = [];
  const ours = (instance: Instance) => hasClusterTag(instance.tags, cluster);
  const others = ({ tags }: Instance) => clustersIn(tags).filter((id) => id !== cluster.id);
  const names = (some: readonly Instance[]) => some.map((instance) => `${instance.id} (${others(instance).join(", ")})`);
  const untagged = instances.filter(({ tags }) => clustersIn(tags).length === 0).map(({ id }) => id);
  if (untagged.length > 0) {
    const remedy = `aws ec2 create-tags --resources ${untagged.join(" ")} --tags Key=${clusterTagPrefix}${cluster.id},Value=owned`;
    findings.push(problem("instances", `without the cluster's tag: ${some(untagged)}`, remedy));
  }
  const foreign = instances.filter((instance) => !ours(instance) && others(instance).length > 0);
  if (foreign.length > 0) {
    const remedy = "# find out why its kubelet has joined this cluster before you change a tag: the other cluster may own the instance";
    findings.push(problem("instances", `tagged for another cluster: ${some(names(foreign))}`, remedy));
  }
  const both = instances.filter((instance) => ours(instance) && others(instance).length > 0);
  if (both.length > 0) {
    const what = `tagged for ${cluster.id} and for another cluster too: ${some(names(both))}; no controller can tell whose they are`;
    findings.push(problem("instances", what, `${untag(both[0]!, cluster.id)}   # once you know that it is not theirs`));
  }
  const elsewhere = instances.filter(({ vpc }) => picture.vpc !== undefined && vpc !== undefined && vpc !== picture.vpc);
  if (elsewhere.length > 0) {
    const ids = elsewhere.map(({ id, vpc }) => `${id} in ${vpc}`);
    const remedy = "# set VPC in the cloud config to the VPC of all nodes";
    findings.push(problem("instances", `in another VPC than ${picture.vpc}: ${some(ids)}`, remedy));
  }
  return findings.length > 0 ? findings : [ok("instances", `${instances.length} carry the cluster's tag`)];
}
