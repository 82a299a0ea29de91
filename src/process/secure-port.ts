/** The secure port of a Kubernetes component: what the process serves over HTTPS, and to whom. */
import { accessReviews } from "../kube/access-reviews.ts";
import { KubeClient } from "../kube/client.ts";
import type { KubeConfig } from "../kube/config/access.ts";
import { loadKubeConfig } from "../kube/config/load.ts";
import { type CertificateFiles, loadCertificates } from "../runtime/certificates.ts";
import { DelegatedAuth } from "../runtime/delegated-auth.ts";
import { openGate } from "../runtime/gate.ts";
import type { HealthChecks } from "../runtime/health.ts";
import type { Host } from "../runtime/host.ts";
import type { Logs } from "../runtime/logs.ts";
import { profilingRoutes } from "../runtime/profiling.ts";
import { RouteTable } from "../runtime/routes.ts";
import { type Serving, serve } from "../runtime/serving.ts";
import { configRoute, healthRoutes, metricsRoutes, verbosityRoute } from "../runtime/standard-routes.ts";
import { nodeTlsOptions } from "../runtime/tls-options.ts";
import type { World } from "../runtime/world.ts";
import { agentOf } from "./clients.ts";
import { PublishedTrust } from "./published-trust.ts";
import { type SecurePortFlags, tlsChoice } from "./secure-port-flags.ts";

/** What is served besides what the flags say. */
export interface ServedParts {
  readonly logs: Logs;
  readonly health: HealthChecks;
  /** What `/configz` answers. */
  configuration(): Readonly<Record<string, unknown>>;
}

/** A bound port, and the trust that decides who may use it. */
export interface SecurePort {
  /** Undefined with `--secure-port=0`. */
  readonly serving: Serving | undefined;
  readonly trust: PublishedTrust;
  /** What it serves, to which any part may add its own; undefined with `--secure-port=0`. */
  readonly routes?: RouteTable;
}

/** Binds the port. Health is served at once; the rest as soon as the API server can be asked about users. */
export async function openSecurePort(host: Host, options: SecurePortFlags, parts: ServedParts): Promise<SecurePort> {
  const port = options["secure-port"];
  if (port === 0) return { serving: undefined, trust: new PublishedTrust(host, options, undefined) };
  const authentication = await reviewer(host, options["authentication-kubeconfig"], "authentication");
  const authorization = await reviewer(host, options["authorization-kubeconfig"], "authorization");
  const trust = new PublishedTrust(host, options, authentication);
  await trust.readFiles();
  const auth = new DelegatedAuth(host, {
    // Answers are remembered by the one who asks, for as long as the flags say.
    ...(authentication && { authentication: accessReviews(authentication, { authenticatedTtlMs: 0 }) }),
    ...(authorization && { authorization: accessReviews(authorization, { authorizedTtlMs: 0, unauthorizedTtlMs: 0 }) }),
    clientAuthorities: () => trust.clientAuthorities(),
    requestHeader: () => trust.requestHeader(),
    alwaysAllowPaths: options["authorization-always-allow-paths"],
    tokenTtlMs: options["authentication-token-webhook-cache-ttl"],
    allowedTtlMs: options["authorization-webhook-cache-authorized-ttl"],
    deniedTtlMs: options["authorization-webhook-cache-unauthorized-ttl"],
  });
  const routes = routesOf(host, options, parts);
  const serving = await serve(host, {
    bindAddress: options["bind-address"],
    port,
    reusePort: options["permit-port-sharing"],
    certificates: await loadCertificates(host, certificateOptions(options)),
    tls: nodeTlsOptions(tlsChoice(options)),
    routes,
    decide: (request) => auth.decide(request),
  });
  return { serving, trust, routes };
}

function routesOf(host: Host, options: SecurePortFlags, { logs, health, configuration }: ServedParts): RouteTable {
  const routes = new RouteTable();
  routes.add(...healthRoutes(health), ...metricsRoutes(host.metrics, health.slis), configRoute(configuration));
  if (options.profiling) {
    routes.add(verbosityRoute(logs), ...profilingRoutes({ clock: host.world.clock, heapDumps: options["enable-heap-dumps"], routes }));
  }
  return routes;
}

function certificateOptions(options: SecurePortFlags) {
  const certFile = options["tls-cert-file"];
  const directory = options["cert-dir"];
  const named = options["tls-sni-cert-key"].map(
    ({ names, ...files }): CertificateFiles => (names.length === 0 ? files : { ...files, names }),
  );
  return {
    named,
    ...(certFile !== "" && { files: { certFile, keyFile: options["tls-private-key-file"] } }),
    ...(directory !== "" && { directory }),
  };
}

/** A client that asks the API server about users: by its own kubeconfig, else as the pod; undefined where there is neither. */
async function reviewer(host: Host, kubeconfig: string, part: string): Promise<KubeClient | undefined> {
  const config = await reviewerConfig(host.world, kubeconfig);
  if (!config) {
    host.log.warn(`No ${part} kubeconfig was given and this is not a pod: ${part} of requests to the secure port is not possible`);
    return undefined;
  }
  return new KubeClient({ host, config, gate: openGate(), userAgent: agentOf(part), limit: { qps: 200, burst: 400 }, timeoutMs: 10_000 });
}

async function reviewerConfig(world: World, kubeconfig: string): Promise<KubeConfig | undefined> {
  if (kubeconfig !== "") return loadKubeConfig(world, { kubeconfig });
  const { KUBERNETES_SERVICE_HOST: inPod, KUBERNETES_SERVICE_PORT: port } = world.environment;
  return inPod && port ? loadKubeConfig(world, {}) : undefined;
}
