/** The driver as a process: which services it offers, and how it starts and ends. */
import { rm } from "node:fs/promises";
import type { Cloud } from "../aws/cloud.ts";
import type { Host } from "../runtime/host.ts";
import { within } from "../runtime/world.ts";
import type { ControllerSettings } from "./controller/context.ts";
import { ec2Check } from "./controller/health.ts";
import { controllerMethods, modifyMethods } from "./controller/methods.ts";
import { controllerContext } from "./controller/service.ts";
import { parseEndpoint } from "./csi/endpoint.ts";
import { identityMethods } from "./csi/identity.ts";
import { serveRegistration } from "./csi/registration.ts";
import { type CsiServer, type Services, serveCsi } from "./csi/server.ts";
import { InFlight } from "./in-flight.ts";
import { exportApiMetrics, exportDetachMetrics } from "./metrics.ts";
import { type MetricsServerOptions, serveMetrics } from "./metrics-server.ts";
import type { NodeFacts, NodeSettings } from "./node/context.ts";
import { nodeMethods } from "./node/methods.ts";
import { linuxSystem } from "./node/system.ts";

export interface DriverOptions {
  readonly host: Host;
  readonly version: string;
  readonly endpoint: string;
  /** Undefined when nobody asked for metrics. */
  readonly metrics: MetricsServerOptions | undefined;
  readonly controller: { readonly cloud: Cloud; readonly settings: ControllerSettings } | undefined;
  readonly node: { facts(signal: AbortSignal): Promise<NodeFacts>; readonly settings: NodeSettings } | undefined;
  /** Undefined when a sidecar tells kubelet of the driver. */
  readonly registration: { readonly folder: string; readonly endpoint: string } | undefined;
}

/** Kubelet gives a pod 30 seconds. */
const drainMs = 20_000;

/** Serves until asked to stop; then takes no more calls, and waits for those in work. */
export async function runDriver(options: DriverOptions & { readonly stop: AbortSignal }): Promise<void> {
  const { host, stop } = options;
  const driver = await startDriver(options);
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve(), { once: true });
  });
  host.log.info("stopping: calls in progress are finished first");
  await within(host.world.clock, drainMs, "calls in progress", undefined, (signal) => driver.stop(signal)).catch((error: unknown) => {
    host.log.warn("calls in progress were aborted", { error });
  });
}

/** Starts serving, and has kubelet told of it if it is to be. */
export async function startDriver(options: DriverOptions): Promise<CsiServer> {
  const { host } = options;
  const log = host.log.with({ logger: "csi" });
  const endpoint = parseEndpoint(options.endpoint);
  const services = servicesOf(options);
  const metrics = options.metrics && (await serveMetrics(host.metrics, host.world.clock, options.metrics));
  // One that was killed leaves its socket behind.
  if (endpoint.kind === "unix") await rm(endpoint.path, { force: true });
  const server = await serveCsi(endpoint, services, log);
  host.log.info("serves CSI", { endpoint: options.endpoint, services: Object.keys(services) });
  const end = async (signal: AbortSignal, registration?: CsiServer) => {
    try {
      // Kubelet first: it starts nothing new with a driver that has gone.
      await registration?.stop(signal);
      await server.stop(signal);
    } finally {
      metrics?.close();
    }
  };
  try {
    const registration = options.registration && (await serveRegistration({ ...options.registration, log }));
    return { stop: (signal) => end(signal, registration) };
  } catch (error) {
    // Whoever tries again finds nothing of this try.
    await end(new AbortController().signal);
    throw error;
  }
}

function servicesOf({ host, version, controller, node }: DriverOptions): Services {
  const context = controller && controllerContext(host, controller.cloud, controller.settings);
  if (context !== undefined) {
    exportApiMetrics(host.metrics, context.cloud.ledger);
    exportDetachMetrics(host.metrics, context.detachPending);
  }
  return {
    "csi.v1.Identity": identityMethods(version, context === undefined ? async () => {} : ec2Check(context)),
    ...(context && { "csi.v1.Controller": controllerMethods(context), "modify.v1.Modify": modifyMethods(context) }),
    ...(node && {
      "csi.v1.Node": nodeMethods({ host, system: linuxSystem(), settings: node.settings, inFlight: new InFlight(), facts: node.facts }),
    }),
  };
}
