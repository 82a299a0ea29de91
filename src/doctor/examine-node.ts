/** What the doctor has to say about one Node. */
import type { InstanceLookup } from "../aws/instances.ts";
import type { ClusterId } from "../identity/cluster-id.ts";
import { claimedInstance, type NodeView } from "../identity/node-view.ts";
import { checkGroups, checkMetadata } from "./check-aws.ts";
import { checkKubelets, checkProviderIds } from "./check-cluster.ts";
import { checkClusterId, checkInstances, clusterMeant } from "./check-tags.ts";
import type { Finding } from "./finding.ts";
import type { GroupFacts, Known, MetadataFacts, Picture } from "./picture.ts";

/** What is known of the Node, and of those beside it. */
export interface NodeFacts {
  readonly node: NodeView;
  readonly all: readonly NodeView[];
  /** Undefined when the Node claims no instance. */
  readonly lookup: InstanceLookup | undefined;
  /** The instances of Nodes beside it, by id: one alone does not tell that the cluster's id is wrong. */
  readonly beside: ReadonlyMap<string, InstanceLookup>;
  readonly cluster: ClusterId;
  readonly vpc: string | undefined;
  readonly region: string;
  readonly groups: readonly GroupFacts[];
  readonly metadata: readonly MetadataFacts[];
  readonly now: number;
}

const checks = [checkInstances, checkGroups, checkMetadata, checkKubelets, checkProviderIds];

/** Warnings and problems; none when all is well with it. */
export function examineNode({ node, all, lookup, beside, cluster, vpc, region, groups, metadata, now }: NodeFacts): readonly Finding[] {
  const id = claimedInstance(node);
  const notAsked: Known<never> = { known: false, why: "it does not concern one Node", kind: "missing" };
  const known = <T>(value: T): Known<T> => ({ known: true, value });
  const own = new Map<string, InstanceLookup>(id !== undefined && lookup !== undefined ? [[id, lookup]] : []);
  const picture: Picture = {
    features: ["nodes", "load-balancers"],
    caller: known({ arn: "", region }),
    skewMs: undefined,
    permissions: notAsked,
    cluster: known(cluster),
    vpc,
    // Another that claims the same instance is a fault of both.
    nodes: known(all.filter((each) => each === node || (id !== undefined && claimedInstance(each) === id))),
    instances: known(own),
    subnets: notAsked,
    groups: known(groups),
    routeTables: notAsked,
    routeTableIds: [],
    metadata: known(metadata),
    hostNetwork: true,
    access: notAsked,
    namespace: "",
    server: notAsked,
    lease: notAsked,
    queueUrl: "",
    queue: notAsked,
    rules: notAsked,
    scalingGroups: notAsked,
    controllers: notAsked,
    now,
  };
  const withOthers: Picture = { ...picture, instances: known(new Map([...beside, ...own])) };
  const findings = clusterMeant(withOthers) === undefined ? checks.flatMap((check) => check(picture)) : checkClusterId(withOthers);
  return findings.filter(({ level }) => level !== "ok");
}
