/** Messages of a queue, read: EventBridge's envelope, and what Auto Scaling sends by itself or through SNS. */
import { type EventKind, goTime, type HookRef, type InterruptionEvent, spotNoticeMs } from "./event.ts";
import { type Fields, field, isRecord, objectOf, text, timeOf } from "./json-fields.ts";

/** What a message turned out to be. */
export type ReadMessage =
  | { readonly kind: "events"; readonly events: readonly InterruptionEvent[] }
  /** An instance waits in a launch hook until its Node is ready. */
  | { readonly kind: "launch"; readonly id: string; readonly hook: HookRef; readonly startTime: number }
  /** The instances of this reservation go; which they are, EC2 knows. */
  | {
      readonly kind: "capacity-block";
      readonly id: string;
      readonly reservationId: string;
      readonly deadline: number;
      readonly startTime: number;
    }
  /** Nothing to do, and nothing wrong: it can be deleted. */
  | { readonly kind: "nothing"; readonly why: string }
  | { readonly kind: "unreadable"; readonly why: string };

interface Envelope {
  readonly id: string;
  readonly detailType: string;
  readonly source: string;
  readonly startTime: number;
  readonly detail: Fields;
  readonly simulated: boolean;
}

/** What the tests of a new hook or notification look like. */
const testNotification = "autoscaling:TEST_NOTIFICATION";
/** A capacity block's instances are terminated from thirty minutes before its end. */
const blockTerminationMs = 30 * 60_000;
/** States of an instance that is on its way out. */
const endingStates: ReadonlySet<string> = new Set(["stopping", "stopped", "shutting-down", "terminated"]);

/** Reads the body of a message that was received at this moment. Pure, and total: whatever is wrong becomes `unreadable`. */
export function readMessage(body: string, now: number): ReadMessage {
  const parsed = objectOf(body);
  if (parsed === undefined) return unreadable("the body is not a JSON object");
  if (text(parsed, "detail-type") !== "") return readEnvelope(parsed, now);
  const wrapped = text(parsed, "Message");
  if (wrapped === "") return readNotification(parsed, now);
  const inner = objectOf(wrapped);
  if (inner === undefined) return unreadable("the message inside SNS is not a JSON object");
  return text(inner, "detail-type") === "" ? readNotification(inner, now) : readEnvelope(inner, now);
}

function readEnvelope(parsed: Fields, now: number): ReadMessage {
  const detail = field(parsed, "detail");
  if (!isRecord(detail)) return unreadable("it has no detail");
  const envelope: Envelope = {
    id: text(parsed, "id"),
    detailType: text(parsed, "detail-type"),
    source: text(parsed, "source"),
    startTime: timeOf(text(parsed, "time")) ?? now,
    detail,
    simulated: field(detail, "fairlead-simulated") === true,
  };
  const read = sources[envelope.source];
  return read === undefined ? unreadable(`event source (${envelope.source}) is not supported`) : read(envelope, now);
}

/** What Auto Scaling sends to a hook's own target. */
function readNotification(fields: Fields, now: number): ReadMessage {
  if (isTest(fields)) return nothing("a test notification");
  const transition = text(fields, "LifecycleTransition");
  if (!transitions.has(transition)) return unreadable(`neither an EventBridge event nor a lifecycle action: transition "${transition}"`);
  const startTime = timeOf(text(fields, "Time")) ?? now;
  return lifecycle({ id: text(fields, "RequestId"), detailType: "", source: "", startTime, detail: fields, simulated: false });
}

const sources: Readonly<Record<string, (envelope: Envelope, now: number) => ReadMessage>> = {
  "aws.ec2": (envelope) => ec2Types[envelope.detailType]?.(envelope) ?? nothing(`"${envelope.detailType}" is not an interruption`),
  "aws.health": health,
  "aws.autoscaling": (envelope) => {
    if (isTest(envelope.detail)) return nothing("a test notification");
    const transition = text(envelope.detail, "LifecycleTransition");
    return transitions.has(transition) ? lifecycle(envelope) : nothing(`lifecycle transition "${transition}" does not concern Nodes`);
  },
};

const ec2Types: Readonly<Record<string, (envelope: Envelope) => ReadMessage>> = {
  "EC2 Spot Instance Interruption Warning": (envelope) =>
    oneEvent(envelope, "spot", "spot-itn-event-", {
      deadline: envelope.startTime + spotNoticeMs,
      description: (id, at) => `Spot Interruption notice for instance ${id} was sent at ${at} \n`,
    }),
  "EC2 Instance Rebalance Recommendation": (envelope) =>
    oneEvent(envelope, "rebalance", "rebalance-recommendation-event-", {
      description: (id, at) => `Rebalance recommendation event received. Instance ${id} will be cordoned at ${at} \n`,
    }),
  "EC2 Instance State-change Notification": (envelope) => {
    const state = text(envelope.detail, "state").toLowerCase();
    if (!endingStates.has(state)) return nothing(`an instance in state "${state}" stays`);
    return oneEvent(envelope, "state-change", "ec2-state-change-event-", {
      description: (id, at) => `EC2 State Change event received. Instance ${id} went into ${state} at ${at} \n`,
    });
  },
  "EC2 Capacity Reservation Instance Interruption Warning": reservation,
  "EC2 Interruptible Capacity Reservation Instance Interruption Warning": reservation,
  "Capacity Block Reservation Expiration Warning": capacityBlock,
  "Capacity Block Expiration Warning": capacityBlock,
};

function reservation(envelope: Envelope): ReadMessage {
  const end = timeOf(text(envelope.detail, "instance-termination-time"));
  return oneEvent(envelope, "reservation", "capacity-reservation-event-", {
    deadline: end ?? envelope.startTime + spotNoticeMs,
    description: (id, at) => `Capacity reservation interruption notice for instance ${id} was sent at ${at} \n`,
  });
}

function capacityBlock({ id, detail, startTime }: Envelope): ReadMessage {
  const reservationId = text(detail, "capacity-reservation-id");
  const end = timeOf(text(detail, "end-date"));
  if (reservationId === "" || end === undefined) return unreadable("a capacity block warning without reservation or end");
  return { kind: "capacity-block", id: `capacity-block-event-${hex(id)}`, reservationId, deadline: end - blockTerminationMs, startTime };
}

/** AWS Health names any number of instances in one event; each is an interruption of its own. */
function health({ id, detailType, detail, simulated }: Envelope, now: number): ReadMessage {
  if (detailType !== "AWS Health Event") return unreadable(`"${detailType}" of aws.health is not supported`);
  if (text(detail, "service") !== "EC2" || text(detail, "eventTypeCategory") !== "scheduledChange") {
    return nothing("no scheduled change of EC2");
  }
  const entities = field(detail, "affectedEntities");
  const ids = (Array.isArray(entities) ? entities : []).flatMap((entity) => (isRecord(entity) ? text(entity, "entityValue") || [] : []));
  if (ids.length === 0) return nothing("a scheduled change of nothing");
  const begins = timeOf(text(detail, "startTime"));
  const typeCode = text(detail, "eventTypeCode");
  return {
    kind: "events",
    events: ids.map((instanceId) => ({
      id: `aws-health-scheduled-change-event-${hex(id)}-${instanceId}`,
      kind: "maintenance",
      monitor: "SQS_MONITOR",
      instanceId,
      description: `AWS Health scheduled change event received. Instance ${instanceId} will be interrupted at ${goTime(begins ?? now)} \n`,
      startTime: now,
      ...(begins !== undefined && { deadline: begins }),
      ...(/REBOOT|RETIREMENT|STOP/.test(typeCode) && { restarts: true }),
      ...(simulated && { simulated }),
    })),
  };
}

const transitions: ReadonlySet<string> = new Set(["autoscaling:EC2_INSTANCE_TERMINATING", "autoscaling:EC2_INSTANCE_LAUNCHING"]);

function lifecycle(envelope: Envelope): ReadMessage {
  const { id, detail, startTime, simulated } = envelope;
  const instanceId = text(detail, "EC2InstanceId");
  const token = text(detail, "LifecycleActionToken");
  const group = text(detail, "AutoScalingGroupName");
  const name = text(detail, "LifecycleHookName");
  if (instanceId === "" || group === "" || name === "") return unreadable("a lifecycle action without instance, group or hook");
  const hook: HookRef = { group, hook: name, instanceId, ...(token !== "" && { token }) };
  const eventId = `asg-lifecycle-term-${hex(id || token)}`;
  if (text(detail, "LifecycleTransition").endsWith("LAUNCHING")) return { kind: "launch", id: eventId, hook, startTime };
  const event: InterruptionEvent = {
    id: eventId,
    kind: "termination",
    monitor: "SQS_MONITOR",
    instanceId,
    description: `ASG Lifecycle Termination event received. Instance will be interrupted at ${goTime(startTime)} \n`,
    startTime,
    hook,
    ...(simulated && { simulated }),
  };
  return { kind: "events", events: [event] };
}

interface Particulars {
  readonly deadline?: number;
  description(instanceId: string, at: string): string;
}

function oneEvent(envelope: Envelope, kind: EventKind, prefix: string, { deadline, description }: Particulars): ReadMessage {
  const { id, detail, startTime, simulated } = envelope;
  const instanceId = text(detail, "instance-id");
  if (instanceId === "") return unreadable("it names no instance");
  const event: InterruptionEvent = {
    id: `${prefix}${hex(id)}`,
    kind,
    monitor: "SQS_MONITOR",
    instanceId,
    description: description(instanceId, goTime(startTime)),
    startTime,
    ...(deadline !== undefined && { deadline }),
    ...(simulated && { simulated }),
  };
  return { kind: "events", events: [event] };
}

function isTest(fields: Fields): boolean {
  return text(fields, "Event") === testNotification || text(fields, "LifecycleTransition") === testNotification;
}

function nothing(why: string): ReadMessage {
  return { kind: "nothing", why };
}

function unreadable(why: string): ReadMessage {
  return { kind: "unreadable", why };
}

function hex(id: string): string {
  return Buffer.from(id).toString("hex");
}
