/** Server ids of QUIC: by them a load balancer knows a connection again whose client has moved. Pure. */
import type { Container } from "../../kube/types.ts";

/** Pods that have it are given ids when they are created; of others none is read. */
export const quicAnnotation = "service.beta.kubernetes.io/aws-load-balancer-quic-enabled-containers";

export const isQuic = (protocol: string | undefined) => protocol === "QUIC" || protocol === "TCP_QUIC";

/** The ids of a pod, as targets are registered with them: `0x2c1e42a72e084911`. */
export interface QuicIds {
  /** Of the container that has a port. */
  readonly byPort: Readonly<Record<number, string>>;
  /** For all other ports. */
  readonly first: string;
}

/** Undefined where no container has one that can be read. */
export function quicIds(containers: readonly Container[], variable: string): QuicIds | undefined {
  const found = containers.flatMap(({ env = [], ports = [] }) => {
    const id = serverId(env.find(({ name }) => name === variable)?.value);
    return id === undefined ? [] : [{ id, ports: ports.map(({ containerPort }) => containerPort) }];
  });
  const [first] = found;
  if (first === undefined) return undefined;
  return { first: first.id, byPort: Object.fromEntries(found.flatMap(({ id, ports }) => ports.map((port) => [port, id]))) };
}

export const quicIdFor = ({ byPort, first }: QuicIds, port: number): string => byPort[port] ?? first;

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

function serverId(value: string | undefined): string | undefined {
  if (value === undefined || !base64.test(value) || value.length % 4 !== 0) return undefined;
  return `0x${Buffer.from(value, "base64").toString("hex")}`;
}
