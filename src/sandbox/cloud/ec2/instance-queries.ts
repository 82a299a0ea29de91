/** Questions about instances: what they are, how they are, and where they stand in the data centre. */
import { createHash } from "node:crypto";
import {
  DescribeInstanceStatus$,
  type DescribeInstanceStatusRequest,
  type DescribeInstanceStatusResult,
  DescribeInstances$,
  type DescribeInstancesRequest,
  type DescribeInstancesResult,
  DescribeInstanceTopology$,
  type DescribeInstanceTopologyRequest,
  type DescribeInstanceTopologyResult,
  type InstanceStatus,
  type InstanceStatusEvent,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read } from "../service.ts";
import type { Table } from "../store.ts";
import { type FilterTable, filtered } from "./filters.ts";
import { describeReservation, instanceFilters } from "./instance-answers.ts";
import { STATE_CODES } from "./instance-lifecycle.ts";
import { findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import type { Ec2, Instance } from "./state.ts";

/** Status checks take this long to pass after a start. */
const CHECKS_MS = 120_000;
const MAX_TOPOLOGY_IDS = 100;
const TOPOLOGY_TYPES = /^(hpc|trn|p\d)/;

/** What is wrong with a machine, as far as EC2 can see; absent for the healthy ones. */
export interface Ailment {
  readonly instanceCheck: "ok" | "impaired";
  readonly systemCheck: "ok" | "impaired";
  readonly events: readonly InstanceStatusEvent[];
}

/** Ailments by instance id: put there by tests and by a person at the sandbox. */
export function ailments(ec2: Ec2): Table<Ailment> {
  return ec2.account.store.table("ec2/ailments");
}

/** What the metadata service of an instance announces before AWS takes it back. */
export interface Notice {
  readonly interruption?: { readonly action: "terminate" | "stop" | "hibernate"; readonly time: number };
  readonly rebalance?: number;
}

/** Notices by instance id, put there like ailments. */
export function notices(ec2: Ec2): Table<Notice> {
  return ec2.account.store.table("ec2/notices");
}

/** The three questions. */
export function instanceQueryOperations(ec2: Ec2): Operations {
  return [
    read<DescribeInstancesRequest, DescribeInstancesResult>(DescribeInstances$, (input) => {
      const records = instancesAsked(ec2, input.InstanceIds, input.MaxResults, "instancesSet");
      const { items, NextToken } = page(ec2, filtered(records, input.Filters, instanceFilters(ec2)), (instance) => instance.id, input, {
        action: "DescribeInstances",
        min: 5,
        max: 1000,
      });
      const reservations = Map.groupBy(items, (instance) => instance.reservationId);
      return { Reservations: [...reservations.values()].map((instances) => describeReservation(ec2, instances)), NextToken };
    }),
    read<DescribeInstanceStatusRequest, DescribeInstanceStatusResult>(DescribeInstanceStatus$, (input) => {
      const records = instancesAsked(ec2, input.InstanceIds, input.MaxResults, "instancesSet");
      const visible = records.filter((instance) => input.IncludeAllInstances || instance.state === "running");
      const { items, NextToken } = page(ec2, filtered(visible, input.Filters, statusFilters(ec2)), (instance) => instance.id, input, {
        action: "DescribeInstanceStatus",
        min: 5,
        max: 1000,
      });
      return { InstanceStatuses: items.map((instance) => describeStatus(ec2, instance)), NextToken };
    }),
    read<DescribeInstanceTopologyRequest, DescribeInstanceTopologyResult>(DescribeInstanceTopology$, (input) =>
      describeTopology(ec2, input),
    ),
  ];
}

function instancesAsked(
  ec2: Ec2,
  ids: readonly string[] | undefined,
  maxResults: number | undefined,
  parameter: string,
): readonly Instance[] {
  if (!ids?.length) return ec2.instances.values();
  if (maxResults !== undefined) {
    throw new ServiceError("InvalidParameterCombination", `The parameter ${parameter} cannot be used with the parameter maxResults`);
  }
  return findAll(ec2.instances, KINDS.instance, ids);
}

function describeStatus(ec2: Ec2, instance: Instance): InstanceStatus {
  const running = instance.state === "running";
  const ailment = ailments(ec2).get(instance.id);
  const passed = ec2.account.time.now() - instance.launched >= CHECKS_MS / ec2.account.time.speed;
  const check = (found: "ok" | "impaired") => {
    if (!running) return { Status: "not-applicable" as const };
    const Status = found === "impaired" ? "impaired" : passed ? "ok" : "initializing";
    const detail = Status === "ok" ? "passed" : Status === "impaired" ? "failed" : "initializing";
    return { Status, Details: [{ Name: "reachability", Status: detail }] } as const;
  };
  const [system, own] = [check(ailment?.systemCheck ?? "ok"), check(ailment?.instanceCheck ?? "ok")];
  return {
    AvailabilityZone: instance.zone,
    AvailabilityZoneId: instance.zoneId,
    Events: running ? [...(ailment?.events ?? [])] : [],
    InstanceId: instance.id,
    InstanceState: { Code: STATE_CODES[instance.state], Name: instance.state },
    InstanceStatus: { Status: own.Status, Details: own.Details && [{ Name: "reachability", Status: own.Details[0].Status }] },
    SystemStatus: { Status: system.Status, Details: system.Details && [{ Name: "reachability", Status: system.Details[0].Status }] },
  };
}

function statusFilters(ec2: Ec2): FilterTable<Instance> {
  const events = (value: (event: InstanceStatusEvent) => string | undefined) => (instance: Instance) =>
    (ailments(ec2).get(instance.id)?.events ?? []).map(value);
  return {
    "availability-zone": (instance) => instance.zone,
    "availability-zone-id": (instance) => instance.zoneId,
    "event.code": events((event) => event.Code),
    "event.description": events((event) => event.Description),
    "event.instance-event-id": events((event) => event.InstanceEventId),
    "event.not-before": events((event) => event.NotBefore?.toISOString()),
    "instance-state-code": (instance) => STATE_CODES[instance.state],
    "instance-state-name": (instance) => instance.state,
    "instance-status.status": (instance) => describeStatus(ec2, instance).InstanceStatus?.Status,
    "instance-status.reachability": (instance) => describeStatus(ec2, instance).InstanceStatus?.Details?.[0]?.Status,
    "system-status.status": (instance) => describeStatus(ec2, instance).SystemStatus?.Status,
    "system-status.reachability": (instance) => describeStatus(ec2, instance).SystemStatus?.Details?.[0]?.Status,
  };
}

function describeTopology(ec2: Ec2, input: DescribeInstanceTopologyRequest): DescribeInstanceTopologyResult {
  if ((input.InstanceIds?.length ?? 0) > MAX_TOPOLOGY_IDS) {
    throw new ServiceError("InvalidParameterValue", `The number of instance IDs exceeds the maximum of ${MAX_TOPOLOGY_IDS}.`);
  }
  const asked = instancesAsked(ec2, input.InstanceIds, input.MaxResults, "instanceIds").filter(
    (instance) =>
      instance.state === "running" &&
      TOPOLOGY_TYPES.test(instance.type) &&
      (!input.GroupNames?.length || (instance.placementGroup !== undefined && input.GroupNames.includes(instance.placementGroup))),
  );
  const table: FilterTable<Instance> = {
    "availability-zone": (instance) => instance.zone,
    "instance-type": (instance) => instance.type,
    "zone-id": (instance) => instance.zoneId,
  };
  const { items, NextToken } = page(ec2, filtered(asked, input.Filters, table), (instance) => instance.id, input, {
    action: "DescribeInstanceTopology",
    min: 1,
    max: 100,
    usual: 20,
  });
  return {
    Instances: items.map((instance) => ({
      InstanceId: instance.id,
      InstanceType: instance.type,
      GroupName: instance.placementGroup,
      NetworkNodes: networkNodes(instance),
      AvailabilityZone: instance.zone,
      ZoneId: instance.zoneId,
    })),
    NextToken,
  };
}

/** Three layers from the zone down: the same for machines of one placement group, apart by rack for the others. */
function networkNodes(instance: Instance): string[] {
  const row = instance.placementGroup ?? instance.id.slice(-2);
  const rack = `${row} ${instance.placementGroup === undefined ? instance.id.slice(-3) : (instance.partitionNumber ?? 0)}`;
  return [instance.zoneId, `${instance.zoneId} ${row}`, `${instance.zoneId} ${rack}`].map(
    (place) => `nn-${createHash("sha256").update(place).digest("hex").slice(0, 17)}`,
  );
}
