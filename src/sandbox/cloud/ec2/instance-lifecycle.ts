/** Instances through their states, each of which takes its time. */
import {
  type InstanceStateChange,
  RebootInstances$,
  type RebootInstancesRequest,
  StartInstances$,
  type StartInstancesRequest,
  type StartInstancesResult,
  StopInstances$,
  type StopInstancesRequest,
  type StopInstancesResult,
  TerminateInstances$,
  type TerminateInstancesRequest,
  type TerminateInstancesResult,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { emit } from "../events/bus.ts";
import { stateChange } from "../events/shapes.ts";
import { type Operations, write } from "../service.ts";
import { removeInterface } from "./interfaces.ts";
import { findAll, KINDS } from "./kinds.ts";
import type { Ec2, Instance, InstanceStateName } from "./state.ts";
import { releaseVolumes } from "./volumes/attachments.ts";

const BOOT_MS = 15_000;
const STOP_MS = 30_000;
const TERMINATION_MS = 40_000;
/** EC2 shows a terminated instance for about an hour. */
const MEMORY_MS = 3_600_000;

/** The numbers EC2 gives with the names of states. */
export const STATE_CODES: Readonly<Record<InstanceStateName, number>> = {
  pending: 0,
  running: 16,
  "shutting-down": 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
};

/** The reason of a state that is on its way to running. */
export const PENDING = { code: "pending", message: "pending" };

/** The operations that change the state of instances. */
export function instanceLifecycleOperations(ec2: Ec2): Operations {
  return [
    write<StartInstancesRequest, StartInstancesResult>(StartInstances$, (input) => ({
      StartingInstances: changed(ec2, input.InstanceIds ?? [], startable, (instance) => start(ec2, instance)),
    })),
    write<StopInstancesRequest, StopInstancesResult>(StopInstances$, (input) => ({
      StoppingInstances: changed(ec2, input.InstanceIds ?? [], stoppable, (instance) => stop(ec2, instance)),
    })),
    write<TerminateInstancesRequest, TerminateInstancesResult>(TerminateInstances$, (input) => ({
      TerminatingInstances: changed(ec2, input.InstanceIds ?? [], terminable, (instance) => terminate(ec2, instance)),
    })),
    write<RebootInstancesRequest, void>(RebootInstances$, (input) => {
      for (const instance of findAll(ec2.instances, KINDS.instance, input.InstanceIds ?? [])) {
        if (instance.state !== "running") throw wrongState(instance, "rebooted");
      }
    }),
  ];
}

/** From pending to running, when the machine has booted. */
export function becomeRunning(ec2: Ec2, id: string): void {
  later(ec2, id, "pending", BOOT_MS, () => enter(ec2, id, "running", { stateReason: undefined }));
}

/** Ends an instance as its own doing or AWS's would, without asking for protection. */
export function terminate(ec2: Ec2, instance: Instance, reason = USER_SHUTDOWN): void {
  if (instance.state === "terminated" || instance.state === "shutting-down") return;
  enter(ec2, instance.id, "shutting-down", { stateReason: reason, transitionReason: transition(ec2, reason) });
  later(ec2, instance.id, "shutting-down", TERMINATION_MS, () => vanish(ec2, instance.id));
}

/** What all callers are checked for before any instance changes. */
type Check = (instance: Instance) => ServiceError | undefined;

function changed(ec2: Ec2, ids: readonly string[], check: Check, change: (instance: Instance) => void): InstanceStateChange[] {
  const instances = findAll(ec2.instances, KINDS.instance, ids);
  for (const instance of instances) {
    const refusal = check(instance);
    if (refusal !== undefined) throw refusal;
  }
  return instances.map((instance) => {
    change(instance);
    return { InstanceId: instance.id, CurrentState: stateOf(ec2.instances.get(instance.id)!), PreviousState: stateOf(instance) };
  });
}

const USER_SHUTDOWN = { code: "Client.UserInitiatedShutdown", message: "Client.UserInitiatedShutdown: User initiated shutdown" };

const startable: Check = (instance) =>
  ["stopped", "running", "pending"].includes(instance.state)
    ? undefined
    : new ServiceError("IncorrectInstanceState", `The instance '${instance.id}' is not in a state from which it can be started.`);

const stoppable: Check = (instance) => {
  if (instance.spot) {
    return new ServiceError(
      "UnsupportedOperation",
      `You can't stop the Spot Instance '${instance.id}' because it is associated with a one-time Spot Instance request.`,
    );
  }
  if (instance.stopProtection) {
    return new ServiceError(
      "OperationNotPermitted",
      `The instance '${instance.id}' may not be stopped. Modify its 'disableApiStop' instance attribute and try again.`,
    );
  }
  return ["running", "stopping", "stopped"].includes(instance.state) ? undefined : wrongState(instance, "stopped");
};

const terminable: Check = (instance) =>
  instance.terminationProtection && instance.state !== "terminated"
    ? new ServiceError(
        "OperationNotPermitted",
        `The instance '${instance.id}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.`,
      )
    : undefined;

function wrongState(instance: Instance, wanted: string): ServiceError {
  return new ServiceError("IncorrectInstanceState", `This instance '${instance.id}' is not in a state from which it can be ${wanted}.`);
}

/** Boots a stopped instance. */
export function start(ec2: Ec2, instance: Instance): void {
  if (instance.state !== "stopped") return;
  const primary = instance.interfaceIds[0];
  if (instance.lendsPublicIp && primary !== undefined) ec2.interfaces.update(primary, { lentPublicIp: ec2.pools.takePublic() });
  enter(ec2, instance.id, "pending", { stateReason: PENDING, transitionReason: "", launched: ec2.account.time.now() });
  becomeRunning(ec2, instance.id);
}

/** Stops a running instance. */
export function stop(ec2: Ec2, instance: Instance): void {
  if (instance.state !== "running") return;
  enter(ec2, instance.id, "stopping", { stateReason: USER_SHUTDOWN, transitionReason: transition(ec2, USER_SHUTDOWN) });
  later(ec2, instance.id, "stopping", STOP_MS, () => {
    returnPublicIp(ec2, instance.interfaceIds[0]);
    enter(ec2, instance.id, "stopped");
  });
}

/** A lent public address goes back when its instance stops; it gets another one at the next start. */
function returnPublicIp(ec2: Ec2, interfaceId: string | undefined): void {
  const networkInterface = interfaceId === undefined ? undefined : ec2.interfaces.get(interfaceId);
  if (networkInterface?.lentPublicIp === undefined) return;
  ec2.pools.releasePublic(networkInterface.lentPublicIp);
  ec2.interfaces.update(networkInterface.id, { lentPublicIp: undefined });
}

/** A terminated instance loses its interfaces, addresses and names at once, and is forgotten later. */
function vanish(ec2: Ec2, id: string): void {
  const instance = ec2.instances.get(id)!;
  for (const interfaceId of instance.interfaceIds) {
    const networkInterface = ec2.interfaces.get(interfaceId);
    if (networkInterface?.attachment?.deleteOnTermination) removeInterface(ec2, interfaceId);
    else if (networkInterface !== undefined) {
      returnPublicIp(ec2, interfaceId);
      ec2.interfaces.update(interfaceId, { attachment: undefined });
    }
  }
  releaseVolumes(ec2, instance);
  enter(ec2, id, "terminated", { interfaceIds: [], volumeIds: [], privateDnsName: "", vpcId: undefined, subnetId: undefined });
  ec2.account.time.forgetAfter(MEMORY_MS, () => ec2.instances.delete(id));
}

/** An instance enters a state, and EC2 says so. */
function enter(ec2: Ec2, id: string, state: InstanceStateName, change: Partial<Instance> = {}): void {
  ec2.instances.update(id, { ...change, state });
  emit(ec2.account, stateChange(ec2.account, id, state));
}

/** Lets something happen to an instance later, unless it has left the state by then. No state is entered twice within its own time. */
function later(ec2: Ec2, id: string, state: InstanceStateName, ms: number, happen: () => void): void {
  ec2.account.time.after(ms, () => {
    if (ec2.instances.get(id)?.state === state) happen();
  });
}

function stateOf(instance: Instance): { Code: number; Name: InstanceStateName } {
  return { Code: STATE_CODES[instance.state], Name: instance.state };
}

function transition(ec2: Ec2, reason: { readonly code: string }): string {
  const when = ec2.account.time.date().toISOString().slice(0, 19).replace("T", " ");
  return reason.code.startsWith("Client.User") ? `User initiated (${when} GMT)` : `${reason.code} (${when} GMT)`;
}
