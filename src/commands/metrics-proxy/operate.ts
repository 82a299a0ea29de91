/** From the proxy's flags to a listening port, and to its end. */
import { ProxyAuth } from "../../discovery/proxy/auth.ts";
import { type ProxyConfig, ProxyConfigInvalid, readProxyConfig } from "../../discovery/proxy/config.ts";
import { apiServerReviews } from "../../discovery/proxy/reviews.ts";
import { ProxyRoutes } from "../../discovery/proxy/routes.ts";
import { loadKubeConfig } from "../../kube/config/load.ts";
import { KubeClients } from "../../process/clients.ts";
import { OptionsInvalid } from "../../process/flag-problems.ts";
import { loadCertificates } from "../../runtime/certificates.ts";
import { openGate } from "../../runtime/gate.ts";
import { parseListenAddress } from "../../runtime/plain-serving.ts";
import { serve } from "../../runtime/serving.ts";
import { nodeTlsOptions } from "../../runtime/tls-options.ts";
import type { World } from "../../runtime/world.ts";
import { within } from "../../runtime/world.ts";
import type { Life } from "../long-running.ts";
import type { Options } from "./flags.ts";

const component = "metrics-proxy";
const serverGraceMs = 10_000;

/** Serves until asked to stop. `listening` is told the port. */
export async function operate(
  options: Options,
  { host, network, stop }: Life,
  listening: (port: number) => void = () => {},
): Promise<void> {
  const { "livez-path": livezPath, "stale-cache-interval": staleMs, "tls-cert-file": certFile, "tls-private-key-file": keyFile } = options;
  const address = parseListenAddress(options["secure-listen-address"]);
  if (address === undefined)
    throw new OptionsInvalid([`--secure-listen-address=${options["secure-listen-address"]}: it must be host:port`]);
  if ((certFile === "") !== (keyFile === ""))
    throw new OptionsInvalid(["give both --tls-cert-file and --tls-private-key-file, or neither"]);
  const config = await configOf(options, host.world);
  const kubeconfig = await loadKubeConfig(host.world, { kubeconfig: options.kubeconfig });
  const clients = new KubeClients(host, kubeconfig, { component, ownAccounts: false }, network.kube);
  // A review is sent like a write and changes nothing.
  const auth = new ProxyAuth(host, { config, livezPath, staleMs, reviews: apiServerReviews(clients.named(component, openGate())) });
  const serving = await serve(host, {
    bindAddress: address.host,
    port: address.port,
    certificates: await loadCertificates(host, certFile === "" ? {} : { files: { certFile, keyFile } }),
    tls: nodeTlsOptions({}),
    routes: new ProxyRoutes(config, livezPath, network.aws, host.log),
    decide: (request) => auth.decide(request),
  });
  listening(serving.port);
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve(), { once: true });
  });
  await within(host.world.clock, serverGraceMs, "stop serving", undefined, (signal) => serving.stop(signal)).catch(() => {});
  await clients.close();
}

async function configOf({ "config-file": file }: Options, { environment, files }: World): Promise<ProxyConfig> {
  const variable = environment.KUBE_RBAC_PROXY_CONFIG;
  const [where, text] = variable
    ? ["KUBE_RBAC_PROXY_CONFIG", variable]
    : ["--config-file", file === "" ? "" : Buffer.from(await files.read(file)).toString()];
  if (text === "") throw new OptionsInvalid(["nothing is to be forwarded: set KUBE_RBAC_PROXY_CONFIG or --config-file"]);
  try {
    return readProxyConfig(text);
  } catch (error) {
    if (error instanceof ProxyConfigInvalid) throw new OptionsInvalid([`${where}: ${error.message}`]);
    throw error;
  }
}
