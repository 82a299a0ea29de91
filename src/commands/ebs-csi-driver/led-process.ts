/** Modes of the driver that work under Leases: from their command line to the running controllers. */
import type { LeaseToHold } from "../../process/leadership.ts";
import { type Operation, operate as operateProcess, type ServedPorts } from "../../process/operate.ts";
import type { ControllerEntry, Program } from "../../process/program.ts";
import type { HealthChecks } from "../../runtime/health.ts";
import type { Host } from "../../runtime/host.ts";
import { servePlainly } from "../../runtime/plain-serving.ts";
import { RouteTable } from "../../runtime/routes.ts";
import { healthRoutes, metricsRoutes } from "../../runtime/standard-routes.ts";
import { driverName } from "../../volumes/names.ts";
import type { Life } from "../long-running.ts";
import type { DriverValues } from "./validate.ts";

/** Of the sidecars, and of the reference's labeller. */
export const leaseTimings = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 5_000 };

export interface LedMode extends Pick<Operation, "aws" | "self"> {
  /** The first is that of the process itself. */
  readonly leases: readonly LeaseToHold[];
  readonly program: Program;
}

/** A program of one entry, whose Events come from the driver. */
export function oneEntry(component: string, name: string, make: ControllerEntry["make"]): Program {
  const entry: ControllerEntry = { name, client: component, eventSource: driverName, metric: undefined, queue: name, make };
  return { component, controllers: [entry], migrated: [], startIntervalMs: 0 };
}

/** Runs it until asked to stop. */
export async function operateLed(
  { leases, program, ...aws }: LedMode,
  values: DriverValues,
  { host, network, stop, version }: Life,
  master: string,
): Promise<void> {
  const [{ namespace, name }] = leases as readonly [LeaseToHold];
  const { component } = program;
  await operateProcess({
    version,
    host,
    network,
    stop,
    kube: { component, kubeconfig: values.kubeconfig ?? "", master, limit: undefined, ownAccounts: false },
    ...aws,
    leadership: { leases, home: { namespace, name }, dryRun: false },
    serve: (health) => serveHealth(host, values["http-endpoint"] ?? "", health),
    programs: [program],
    minResyncMs: 12 * 3_600_000,
  });
}

/** Health beside metrics: there is no socket for a liveness probe to ask. */
async function serveHealth(host: Host, address: string, health: HealthChecks): Promise<ServedPorts> {
  if (address === "") return { serving: undefined };
  const routes = new RouteTable();
  routes.add(...metricsRoutes(host.metrics, health.slis), ...healthRoutes(health));
  return { serving: await servePlainly(host, { address, flag: "--http-endpoint", routes }) };
}
