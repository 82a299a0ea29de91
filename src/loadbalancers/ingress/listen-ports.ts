/** The ports on which an Ingress listens, and how clients show who they are on them: two annotations that hold JSON. */
import { Fault, type Given } from "../annotation-rows.ts";
import { boolean, decodeJson, integer, list, object, record, string } from "../json-values.ts";

export type Protocol = "HTTP" | "HTTPS";

/** By port. */
export type ListenPorts = ReadonlyMap<number, Protocol>;

const isPort = (port: number) => port >= 1 && port <= 65_535;

/** `[{"HTTP": 80}, {"HTTPS": 443}]`; of two protocols on one port the last one counts. */
export function listenPorts(given: string): ListenPorts | Fault {
  const decoded = decodeJson(given, list(record(integer)));
  if (!("value" in decoded)) return new Fault(`failed to parse listen-ports configuration: \`${given}\`: ${decoded.fault}`);
  if (decoded.value.length === 0) return new Fault(`empty listen-ports configuration: \`${given}\``);
  const ports = new Map<number, Protocol>();
  for (const [protocol, port] of decoded.value.flatMap((entry) => Object.entries(entry))) {
    if (!isPort(port)) return new Fault(`listen port must be within [1, 65535]: ${port}`);
    if (protocol !== "HTTP" && protocol !== "HTTPS") return new Fault(`listen protocol must be within [HTTP, HTTPS]: ${protocol}`);
    ports.set(port, protocol);
  }
  return ports;
}

/** What an Ingress says about client certificates on one port; a trust store by its name or ARN. */
export type MutualTlsWish =
  | { readonly mode: "off" | "passthrough" }
  | { readonly mode: "verify"; readonly trustStore: string; readonly ignoresExpiry: boolean; readonly advertisesNames: boolean };

const mutualTlsEntries = list(
  object({ port: integer, mode: string, trustStore: string, ignoreClientCertificateExpiry: boolean, advertiseTrustStoreCaNames: string }),
);

/** By port; of two entries for one port the last one counts. */
export function mutualTls(given: string, _about: Given): ReadonlyMap<number, MutualTlsWish> | Fault {
  const decoded = decodeJson(given, mutualTlsEntries);
  const name = "mutualAuthentication configuration from ingress annotation";
  if (!("value" in decoded)) return new Fault(`failed to parse ${name}: \`${given}\`: ${decoded.fault}`);
  if (decoded.value.length === 0) return new Fault(`empty ${name}: \`${given}\``);
  const wishes = new Map<number, MutualTlsWish>();
  for (const entry of decoded.value) {
    const wish = mutualTlsOf(entry);
    if (wish instanceof Fault) return wish;
    wishes.set(entry.port ?? 0, wish);
  }
  return wishes;
}

type Entry = ReturnType<typeof mutualTlsEntries>[number];

function mutualTlsOf({ port = 0, mode = "", ...entry }: Entry): MutualTlsWish | Fault {
  const { trustStore, ignoreClientCertificateExpiry, advertiseTrustStoreCaNames: advertise } = entry;
  if (!isPort(port)) return new Fault(`listen port must be within [1, 65535]: ${port}`);
  if (mode === "") return new Fault(`mutualAuthentication mode cannot be empty for port ${port}`);
  if (mode === "verify") {
    if (!trustStore) return new Fault(`trustStore is required when mutualAuthentication mode is verify for port ${port}`);
    if (advertise !== undefined && advertise !== "on" && advertise !== "off") {
      return new Fault(`advertiseTrustStoreCaNames only supports the values "on" and "off" got value ${advertise} for port ${port}`);
    }
    return { mode, trustStore, ignoresExpiry: ignoreClientCertificateExpiry ?? false, advertisesNames: advertise === "on" };
  }
  if (mode !== "off" && mode !== "passthrough") {
    return new Fault(`mutualAuthentication mode value must be among [off, passthrough, verify] for port ${port} : ${mode}`);
  }
  const unfit = `Mutual Authentication mode ${mode} does not support`;
  if (trustStore) return new Fault(`${unfit} trustStore for port ${port}`);
  if (ignoreClientCertificateExpiry !== undefined) return new Fault(`${unfit} ignoring client certificate expiry for port ${port}`);
  if (advertise !== undefined) return new Fault(`${unfit} advertiseTrustStoreCaNames for port ${port}`);
  return { mode };
}
