/** Checks of AWS: who calls, and whether the network is set up for the cluster. */
import type { Tags } from "../aws/instance.ts";
import { clusterTagPrefix } from "../identity/cluster-id.ts";
import { hasClusterTag } from "../identity/ownership.ts";
import { clustersIn } from "./check-tags.ts";
import { type Finding, ok, problem, some, warning } from "./finding.ts";
import { liveInstances, type MetadataFacts, type Picture, type SubnetFacts, valueIn } from "./picture.ts";

export function checkCredentials({ caller }: Picture): readonly Finding[] {
  if (caller.known) return [ok("credentials", `${caller.value.arn} in ${caller.value.region}`)];
  return [
    problem(
      "credentials",
      caller.why,
      "aws sts get-caller-identity   # as the pod: attach a role (deploy/iam/trust), or set AWS_REGION and credentials",
    ),
  ];
}

const skewWarnsMs = 60_000;
const skewFailsMs = 4 * 60_000;

export function checkClock({ skewMs }: Picture): readonly Finding[] {
  if (skewMs === undefined) return [];
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  if (Math.abs(skewMs) < skewWarnsMs) return [ok("clock", `within ${Math.max(1, seconds)} s of AWS's`)];
  const what = `this machine's clock is ${seconds} s ${skewMs > 0 ? "behind" : "ahead of"} AWS's`;
  const remedy = "chronyc tracking   # AWS refuses signatures that are five minutes off; point chrony at 169.254.169.123";
  return [Math.abs(skewMs) < skewFailsMs ? warning("clock", what, remedy) : problem("clock", what, remedy)];
}

/** A load balancer needs eight addresses of each of its subnets to grow into. */
const fewAddresses = 8;

export function checkSubnets(picture: Picture): readonly Finding[] {
  const { subnets, cluster, features } = picture;
  if (!(["load-balancers", "ingresses", "class-services"] as const).some((each) => features.includes(each))) return [];
  const found = valueIn(subnets);
  if (found === undefined) return failed("subnets", picture.subnets);
  const id = valueIn(cluster)?.id;
  const usable = found.filter(({ tags }) => id === undefined || usableBy(tags, id));
  const scarce = usable.filter((subnet) => roleOf(subnet) !== undefined && subnet.freeAddresses < fewAddresses);
  return [
    ...missingRole(usable, "kubernetes.io/role/elb", "internet-facing", (subnet) => subnet.public),
    ...missingRole(usable, "kubernetes.io/role/internal-elb", "internal", (subnet) => !subnet.public),
    ...scarce.map((subnet) =>
      warning(
        "subnets",
        `${subnet.id} has ${subnet.freeAddresses} free addresses; a load balancer needs ${fewAddresses}`,
        `aws ec2 describe-network-interfaces --filters Name=subnet-id,Values=${subnet.id}`,
      ),
    ),
    ...privateButPublicRole(usable),
  ].concat(zonesFinding(usable));
}

function missingRole(subnets: readonly SubnetFacts[], role: string, what: string, fits: (subnet: SubnetFacts) => boolean): Finding[] {
  if (subnets.some(({ tags }) => role in tags)) return [];
  const candidates = subnets.filter(fits).map(({ id }) => id);
  // Without any the tag would be a lie: such a cluster has no use for this kind.
  if (candidates.length === 0) return [];
  return [
    warning(
      "subnets",
      `none carries ${role}: for an ${what} load balancer subnets are chosen by their routes and ids alone`,
      `aws ec2 create-tags --resources ${candidates.join(" ")} --tags Key=${role},Value=1`,
    ),
  ];
}

function privateButPublicRole(subnets: readonly SubnetFacts[]): Finding[] {
  const wrong = subnets.filter((subnet) => "kubernetes.io/role/elb" in subnet.tags && !subnet.public).map(({ id }) => id);
  if (wrong.length === 0) return [];
  return [
    problem(
      "subnets",
      `tagged for internet-facing load balancers, but without a route to an internet gateway: ${some(wrong)}`,
      `aws ec2 delete-tags --resources ${wrong.join(" ")} --tags Key=kubernetes.io/role/elb`,
    ),
  ];
}

function zonesFinding(subnets: readonly SubnetFacts[]): Finding[] {
  const zones = [...new Set(subnets.map(({ zone }) => zone))].sort();
  if (zones.length === 0) {
    return [
      problem("subnets", "the VPC has none that this cluster may use", `aws ec2 describe-subnets   # tag them ${clusterTagPrefix}CLUSTER`),
    ];
  }
  if (zones.length > 1) return [ok("subnets", `${subnets.length} in ${zones.join(", ")}`)];
  return [warning("subnets", `all are in ${zones[0]}: load balancers fail with that zone`, "# add subnets in a second availability zone")];
}

function usableBy(tags: SubnetFacts["tags"], id: string): boolean {
  const clusters = Object.keys(tags).filter((key) => key.startsWith(clusterTagPrefix));
  return clusters.length === 0 || clusters.includes(clusterTagPrefix + id);
}

function roleOf({ tags }: SubnetFacts): string | undefined {
  return ["kubernetes.io/role/elb", "kubernetes.io/role/internal-elb"].find((role) => role in tags);
}

export function checkGroups(picture: Picture): readonly Finding[] {
  const cluster = valueIn(picture.cluster);
  if (!picture.features.includes("load-balancers") || cluster === undefined) return [];
  const groups = valueIn(picture.groups);
  if (groups === undefined) return failed("security groups", picture.groups);
  const tagged = new Set(groups.filter(({ tags }) => hasClusterTag(tags, cluster)).map(({ id }) => id));
  const instances = liveInstances(picture).filter(({ groups: its }) => its.length > 0);
  const several = instances.filter(({ groups: its }) => its.filter((id) => tagged.has(id)).length > 1);
  const none = instances.filter(({ groups: its }) => its.length > 1 && !its.some((id) => tagged.has(id)));
  const findings: Finding[] = [];
  const key = `${clusterTagPrefix}${cluster.id}`;
  if (several.length > 0) {
    const extra = several[0]!.groups.filter((id) => tagged.has(id));
    findings.push(
      problem(
        "security groups",
        `more than one with the cluster's tag (${extra.join(", ")}) on ${some(several.map(({ id }) => id))}: which one should let load balancers in?`,
        `aws ec2 delete-tags --resources ${extra.slice(1).join(" ")} --tags Key=${key}`,
      ),
    );
  }
  if (none.length > 0) {
    findings.push(
      problem(
        "security groups",
        `several, none with the cluster's tag, on ${some(none.map(({ id }) => id))}: which one should let load balancers in?`,
        tagOneOf(none[0]!.groups, groups, `Key=${key},Value=owned`),
      ),
    );
  }
  const used = new Set(instances.flatMap(({ groups: its }) => its));
  const disputed = groups.filter(({ id, tags }) => used.has(id) && ownersIn(tags).length > 1);
  if (disputed.length > 0) {
    const names = disputed.map(({ id, tags }) => `${id} (${ownersIn(tags).join(", ")})`);
    const remedy = `aws ec2 delete-tags --resources ${disputed[0]!.id} --tags Key=${clusterTagPrefix}OTHER_CLUSTER   # of the cluster that does not own it`;
    findings.push(warning("security groups", `owned by two clusters: ${some(names)}; each would remove the other's rules`, remedy));
  }
  return findings.length > 0 || instances.length === 0 ? findings : [ok("security groups", "one for load balancers on every instance")];
}

/** The clusters that a thing says are its owners; being used by several is no contradiction. */
function ownersIn(tags: Tags): readonly string[] {
  return clustersIn(tags).filter((id) => tags[clusterTagPrefix + id] === "owned");
}

/** The command that tags the first of these that no other cluster has tagged: one that it has is not ours to take. */
function tagOneOf(ids: readonly string[], things: readonly { readonly id: string; readonly tags: Tags }[], tag: string): string {
  const free = ids.find((id) => things.every((thing) => thing.id !== id || clustersIn(thing.tags).length === 0));
  if (free === undefined) return `# ${ids.join(", ")}: tagged for another cluster; give this one its own, tagged ${tag}`;
  return `aws ec2 create-tags --resources ${free} --tags ${tag}`;
}

export function checkRouteTables(picture: Picture): readonly Finding[] {
  const cluster = valueIn(picture.cluster);
  if (!picture.features.includes("routes") || cluster === undefined) return [];
  const tables = valueIn(picture.routeTables);
  if (tables === undefined) return failed("route tables", picture.routeTables);
  const { routeTableIds: named } = picture;
  if (named.length > 0) {
    const missing = named.filter((named) => !tables.some(({ id }) => id === named));
    if (missing.length === 0) return [ok("route tables", `${named.join(", ")}, as configured`)];
    const what = `${missing.join(", ")} of the cloud config ${missing.length === 1 ? "is" : "are"} not in ${picture.vpc}`;
    return [problem("route tables", what, "aws ec2 describe-route-tables")];
  }
  const tagged = tables.filter(({ tags }) => hasClusterTag(tags, cluster)).map(({ id }) => id);
  const key = `${clusterTagPrefix}${cluster.id}`;
  if (tagged.length > 0) return [ok("route tables", some(tagged))];
  const main = tables.find((table) => table.main)?.id ?? "TABLE";
  return [problem("route tables", "none has the cluster's tag", tagOneOf([main], tables, `Key=${key},Value=shared`))];
}

export function checkMetadata({ metadata, hostNetwork }: Picture): readonly Finding[] {
  const facts = valueIn(metadata);
  if (facts === undefined || facts.length === 0) return [];
  const off = facts.filter(({ enabled }) => !enabled);
  const near = facts.filter(({ enabled, hopLimit }) => enabled && hopLimit < 2);
  const findings: Finding[] = [];
  if (off.length > 0) {
    findings.push(
      warning(
        "metadata service",
        `turned off on ${some(ids(off))}: region, VPC, subnet and cluster id must be in the cloud config, and credentials elsewhere`,
        `aws ec2 modify-instance-metadata-options --instance-id ${off[0]!.instanceId} --http-endpoint enabled --http-tokens required`,
      ),
    );
  }
  if (near.length > 0 && !hostNetwork) {
    findings.push(
      problem(
        "metadata service",
        `hop limit 1 on ${some(ids(near))}: a pod that is not on the host network gets no answer`,
        `aws ec2 modify-instance-metadata-options --instance-id ${near[0]!.instanceId} --http-put-response-hop-limit 2`,
      ),
    );
  }
  return findings.length > 0 ? findings : [ok("metadata service", `reachable from ${hostNetwork ? "the host network" : "pods"}`)];
}

function ids(facts: readonly MetadataFacts[]): readonly string[] {
  return facts.map(({ instanceId }) => instanceId);
}

/** A question that failed for want of a permission is told by the permission. */
function failed(check: Finding["check"], known: Picture["subnets"] | Picture["groups"] | Picture["routeTables"]): readonly Finding[] {
  if (known.known || known.kind !== "failed") return [];
  return [problem(check, known.why, "# see credentials and permissions above")];
}
