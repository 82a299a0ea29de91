/** What all controllers of the process that make load balancers share: what is known of the account, and the group towards targets. */
import type { Ledger } from "../../aws/ledger.ts";
import { exportApiMetrics } from "../../loadbalancers/api-metrics.ts";
import { clusterTag } from "../../loadbalancers/controller-names.ts";
import { BackendGroup } from "../../loadbalancers/groups/backend-group.ts";
import { ClaimBook } from "../../loadbalancers/groups/claim-book.ts";
import { type ClusterScope, Inventory } from "../../loadbalancers/inventory.ts";
import { NewTargetGroups } from "../../loadbalancers/targets/new-groups.ts";
import { ConfigurationFailed } from "../../process/errors.ts";
import type { ProcessContext } from "../../process/program.ts";
import { gateOpen } from "./feature-gates.ts";
import type { Options } from "./flags.ts";

export interface Balancers {
  readonly inventory: Inventory;
  readonly book: ClaimBook;
  readonly backendGroup: BackendGroup;
  readonly newGroups: NewTargetGroups;
  /** Has the calls of a cloud counted; that of the controller's own account is counted already. */
  readonly countCalls: (ledger: Ledger) => void;
}

/** With the gate, tags are read from AWS's index of them. */
export function indexedBy(options: Options): Pick<ClusterScope, "indexed"> {
  const isOpen = gateOpen(options["feature-gates"], "EnableRGTAPI");
  return isOpen ? { indexed: { key: clusterTag, value: options["cluster-name"] } } : {};
}

export function balancersOf({ host, cloud, self }: Pick<ProcessContext, "host" | "cloud" | "self">, options: Options): Balancers {
  if (self.vpc === undefined) throw new ConfigurationFailed("the VPC of the cluster is not known: set --aws-vpc-id");
  const cluster = options["cluster-name"];
  const owns = (tags: Readonly<Record<string, string>>) => tags[clusterTag] === cluster;
  const inventory = new Inventory(cloud, host.world.clock, {
    vpc: self.vpc,
    cluster: { id: cluster, legacy: false },
    owns,
    ...indexedBy(options),
  });
  const countCalls = exportApiMetrics(host.metrics);
  countCalls(cloud.ledger);
  const given = options["backend-security-group"];
  const settings = {
    cluster,
    defaultTags: options["default-tags"],
    externalManagedTags: options["external-managed-tags"],
    sharesBackendGroup: options["enable-backend-security-group"],
  };
  return {
    inventory,
    book: new ClaimBook(),
    backendGroup: new BackendGroup({ inventory, settings, ...(given !== "" && { given }) }),
    newGroups: new NewTargetGroups(host.world.clock),
    countCalls,
  };
}
