/** The ports of a Gateway on which its load balancer listens. Pure. */
import { type Certificate, certificatesFor } from "../certificate-choice.ts";
import type { Listener } from "../model.ts";
import type { MutualTls } from "../routing.ts";
import type { AttachedRoute } from "./attachment.ts";
import type { ListenerConfiguration } from "./config.ts";
import type { Draft } from "./draft.ts";
import { GatewayFault } from "./fault.ts";
import { isValid, type JudgedListener } from "./listener-validation.ts";
import { recordOf } from "./merge.ts";
import { parts } from "./names.ts";
import { portKey } from "./refused.ts";
import type { StandingListener } from "./standing.ts";
import { tagsOf } from "./tags.ts";
import { keyOf } from "./view.ts";

export type EffectiveProtocol = "HTTP" | "HTTPS" | "TCP" | "UDP" | "TLS" | "TCP_UDP" | "QUIC" | "TCP_QUIC";

export interface Port {
  readonly port: number;
  readonly protocol: EffectiveProtocol;
  readonly listeners: readonly JudgedListener[];
  readonly routes: readonly AttachedRoute[];
  readonly config?: ListenerConfiguration;
}

/** One on which something is served: it has a valid listener, and a route. Throws a `GatewayFault` for what contradicts itself. */
export function portOf(
  { listeners, attachment, config }: Pick<Draft, "listeners" | "attachment" | "config">,
  port: number,
): Port | undefined {
  const valid = listeners.filter((each) => isValid(each) && each.listener.port === port);
  const routes = attachment.byPort.get(port) ?? [];
  if (valid.length === 0 || routes.length === 0) return undefined;
  const merged = mergedProtocol(valid);
  const found = config.listenerConfigurations?.findLast(
    ({ protocolPort }) => protocolPort.toUpperCase() === `${merged}:${port}`.toUpperCase(),
  );
  const protocol = found?.quicEnabled ? quicOf(merged) : merged;
  return { port, protocol, listeners: valid, routes, ...(found && { config: found }) };
}

/** TLS that is passed through is TCP; TCP and UDP of one port are one listener. */
function mergedProtocol(listeners: readonly JudgedListener[]): EffectiveProtocol {
  const all = new Set(listeners.map(({ listener }) => (listener.protocol === "TLS" && listener.isPassthrough ? "TCP" : listener.protocol)));
  const [only, ...others] = [...all].toSorted();
  if (others.length === 0) return only as EffectiveProtocol;
  if (others.length === 1 && only === "TCP" && others[0] === "UDP") return "TCP_UDP";
  throw new GatewayFault("invalid listeners on gateway, listeners with same ports cannot have different protocols");
}

function quicOf(protocol: EffectiveProtocol): EffectiveProtocol {
  if (protocol === "UDP") return "QUIC";
  if (protocol === "TCP_UDP") return "TCP_QUIC";
  throw new GatewayFault(`QUIC protocol upgrade not supported for protocol ${protocol}`);
}

const isSecure = ({ protocol }: Port) => protocol === "HTTPS" || protocol === "TLS";

/** Whether certificates have to be found for its host names. */
export const needsDiscovery = (port: Port) => isSecure(port) && givenCertificates(port).length === 0;

const givenCertificates = ({ config }: Port): readonly string[] => [
  ...new Set([...(config?.defaultCertificate ? [config.defaultCertificate] : []), ...(config?.certificates ?? [])]),
];

/** What a listener of AWS has, whatever it forwards to. */
export function listenerOf(draft: Draft, port: Port, warn: (message: string) => void): Listener {
  const { settings } = draft;
  const secure = isSecure(port);
  const certificates = secure ? certificatesOf(draft, port, warn) : [];
  const by = portKey(port.port);
  return {
    ...base(draft, port),
    certificates,
    ...(secure && { sslPolicy: port.config?.sslPolicy || settings.defaultSslPolicy }),
    // AWS knows no attributes of TLS listeners.
    attributes: port.protocol === "TLS" ? {} : recordOf(port.config?.listenerAttributes),
    by,
    certificatesBy: Object.fromEntries(certificates.map((arn) => [arn, by])),
  };
}

/** The same of one that stays as it is: what is not said of it is left alone. */
export const asItStands = (draft: Draft, { port, protocol, certificates }: StandingListener): Listener => ({
  ...base(draft, { port, protocol }),
  certificates,
  attributes: {},
});

function base(draft: Draft, { port, protocol }: { readonly port: number; readonly protocol: string }) {
  const part = parts.listener(port);
  return {
    port,
    part,
    tags: tagsOf(draft.config.tags ?? {}, draft, part),
    untagged: !draft.settings.gates.listenerRulesTagging,
    why: `Gateway ${keyOf(draft.gateway)} listens on ${protocol}:${port}`,
  };
}

/**
 * Those that are given, or all that fit the host names of its listeners and routes. A host that none fits keeps a listener that
 * stands as it is, and one that is to be made from nothing but being complete: the others are served.
 */
function certificatesOf(draft: Draft, port: Port, warn: (message: string) => void): readonly string[] {
  const given = givenCertificates(port);
  if (given.length > 0) return given;
  const { settings, gateway } = draft;
  const names = [...port.listeners.map(({ listener }) => listener.hostname), ...port.routes.flatMap(({ hostnames }) => hostnames)];
  const hosts = [...new Set(names)].filter((name) => name !== "");
  const where = `listener on gateway ${keyOf(gateway)} with protocol:port ${port.protocol}:${port.port}`;
  const kept = draft.standingListeners.find((listener) => listener.port === port.port)?.certificates ?? [];
  const issued = issuedTo(draft);
  const answers = hosts.map((host) => certificatesFor([host], issued.certificates, settings.allowedAuthorities));
  const found = [...new Set(answers.flatMap((answer) => ("arns" in answer ? answer.arns : [])))].toSorted();
  const unmatched = answers.flatMap((answer) => ("unmatched" in answer ? [`no certificate found for host: ${answer.unmatched}`] : []));
  const faults = hosts.length === 0 ? [`No hostnames found for TLS cert discovery for ${where}`] : (issued.faults ?? unmatched);
  if (faults.length === 0) return found;
  // The first one stays first: it is what clients get that name no host.
  const all = [...new Set([...kept, ...found])];
  if (all.length === 0) throw new GatewayFault(faults.join("; "));
  warn(`${faults.join("; ")} (${where})`);
  return all;
}

/** One that stands keeps what it has where AWS could not be asked. */
function issuedTo({ certificates }: Draft): { readonly certificates: readonly Certificate[]; readonly faults?: readonly string[] } {
  try {
    return { certificates: certificates() };
  } catch (error) {
    if (!(error instanceof GatewayFault)) throw error;
    return { certificates: [], faults: [error.message] };
  }
}

/** Of HTTPS listeners; what is not said is off. */
export function mutualTlsOf({ trustStore: find }: Draft, { config }: Port): MutualTls {
  const { mode = "off", trustStore = "", ignoreClientCertificateExpiry, advertiseTrustStoreCaNames } = config?.mutualAuthentication ?? {};
  if (mode !== "verify") return { mode };
  const arn = trustStore.startsWith("arn:") ? trustStore : find(trustStore);
  if (arn === undefined) throw new GatewayFault(`couldn't find TrustStore with name: ${trustStore}`);
  return {
    mode,
    trustStore: arn,
    ignoresExpiry: ignoreClientCertificateExpiry ?? false,
    advertisesNames: advertiseTrustStoreCaNames === "on",
  };
}
