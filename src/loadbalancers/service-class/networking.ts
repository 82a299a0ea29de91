/** What the targets of a Service let in, as its annotations and its load balancer's security groups say. Pure. */
import type { TargetGroup } from "../model.ts";
import type { Subnet } from "../subnets.ts";
import { allPorts, exactPorts, fromAddresses } from "../target-networking.ts";
import type { BindingSpec } from "../targets/binding.ts";
import type { Draft } from "./draft.ts";
import { type Guard, sourceRangesOf } from "./security-groups.ts";
import type { ServicePortView, ServiceView } from "./view.ts";

export interface NetworkingWish {
  readonly group: TargetGroup;
  readonly backing: ServiceView;
  readonly port: ServicePortView;
  readonly source: Guard["source"];
  /** Whether targets see the addresses of clients, as far as it is up to us: of some protocols they always do. */
  readonly preservesClients: boolean;
  readonly internal: boolean;
  /** Where the load balancer stands. */
  readonly subnets: readonly Subnet[];
}

export function networkingOf(draft: Draft, wish: NetworkingWish): BindingSpec["networking"] {
  const { source, group, port, backing } = wish;
  const access = { group, trafficPort: group.targetType === "instance" ? port.nodePort : port.targetPort };
  if (source.kind === "nobody") return undefined;
  if (source.kind === "group") {
    const from = [{ securityGroup: { groupID: source.id } }];
    return { ingress: [{ from, ports: draft.settings.restrictsRules ? exactPorts(access) : allPorts(access) }] };
  }
  if (!(draft.read.get("aws-load-balancer-manage-backend-security-group-rules") ?? true)) return undefined;
  const { preservesClients, internal, subnets } = wish;
  const { vpcCidrs } = draft;
  return fromAddresses({ ...access, preservesClients, internal, subnets, vpcCidrs, ranges: () => sourceRangesOf(draft, backing) });
}
