/** What AWS does to instances on its own: takes spot capacity back, recommends to move, schedules maintenance. */
import type { EventCode, InstanceStatusEvent } from "@aws-sdk/client-ec2";
import { emit } from "../events/bus.ts";
import { rebalanceRecommendation, scheduledChange, spotInterruption } from "../events/shapes.ts";
import { stop, terminate } from "./instance-lifecycle.ts";
import { ailments, type Notice, notices } from "./instance-queries.ts";
import type { Ec2, Instance } from "./state.ts";

/** A spot instance has this long between its notice and its end. */
export const SPOT_NOTICE_MS = 120_000;
/** EC2 shows maintenance that is over or cancelled for a week. */
const MAINTENANCE_MEMORY_MS = 7 * 24 * 3_600_000;

const SPOT_END = {
  code: "Server.SpotInstanceTermination",
  message: "Server.SpotInstanceTermination: Spot instance termination",
};

/** Tells a spot instance that its capacity is wanted, and takes it two minutes later. The two minutes are the world's own, at any speed. */
export function interruptSpot(ec2: Ec2, instance: Instance, action: "terminate" | "stop" = "terminate"): number {
  const time = ec2.account.time.now() + SPOT_NOTICE_MS;
  give(ec2, instance.id, { interruption: { action, time } });
  emit(ec2.account, spotInterruption(ec2.account, instance.id, instance.zone, action));
  ec2.account.time.at(time, () => {
    const current = ec2.instances.get(instance.id);
    if (current === undefined || notices(ec2).get(instance.id)?.interruption?.time !== time) return;
    if (action === "terminate") terminate(ec2, current, SPOT_END);
    else stop(ec2, current);
  });
  return time;
}

/** Tells an instance that it is at a higher risk of interruption. Nothing else happens to it. */
export function recommendRebalance(ec2: Ec2, instance: Instance): void {
  give(ec2, instance.id, { rebalance: ec2.account.time.now() });
  emit(ec2.account, rebalanceRecommendation(ec2.account, instance.id, instance.zone));
}

/** Maintenance to come. */
export interface Maintenance {
  readonly code: EventCode;
  readonly description: string;
  readonly notBefore: number;
  readonly notAfter?: number;
}

/** Schedules maintenance of an instance; answers the id of the event. */
export function scheduleMaintenance(ec2: Ec2, instance: Instance, maintenance: Maintenance): string {
  const id = ec2.account.ids.resource("instance-event");
  const event: InstanceStatusEvent = {
    InstanceEventId: id,
    Code: maintenance.code,
    Description: maintenance.description,
    NotBefore: new Date(maintenance.notBefore),
    NotAfter: maintenance.notAfter === undefined ? undefined : new Date(maintenance.notAfter),
  };
  changeEvents(ec2, instance.id, (events) => [...events, event]);
  const typeCode = `AWS_EC2_${maintenance.code.toUpperCase().replaceAll("-", "_")}_SCHEDULED`;
  emit(ec2.account, scheduledChange(ec2.account, [instance.id], typeCode, maintenance.description, maintenance.notBefore));
  return id;
}

/** Says that maintenance has been done, or will not be: the words are in front of its description, and it is forgotten after a week. */
export function endMaintenance(ec2: Ec2, instance: Instance, eventId: string, how: "Completed" | "Canceled"): void {
  changeEvents(ec2, instance.id, (events) =>
    events.map((event) => (event.InstanceEventId === eventId ? { ...event, Description: `[${how}] ${event.Description}` } : event)),
  );
  ec2.account.time.forgetAfter(MAINTENANCE_MEMORY_MS, () =>
    changeEvents(ec2, instance.id, (events) => events.filter((event) => event.InstanceEventId !== eventId)),
  );
}

/** How the metadata service names the state that EC2's own answers hide in the description. */
export function maintenanceState({ Description = "" }: InstanceStatusEvent): "active" | "completed" | "canceled" {
  if (Description.startsWith("[Completed]")) return "completed";
  return Description.startsWith("[Canceled]") ? "canceled" : "active";
}

function give(ec2: Ec2, id: string, notice: Notice): void {
  notices(ec2).put(id, { ...notices(ec2).get(id), ...notice });
}

function changeEvents(ec2: Ec2, id: string, change: (events: readonly InstanceStatusEvent[]) => readonly InstanceStatusEvent[]): void {
  const current = ailments(ec2).get(id) ?? { instanceCheck: "ok", systemCheck: "ok", events: [] };
  ailments(ec2).put(id, { ...current, events: change(current.events) });
}
