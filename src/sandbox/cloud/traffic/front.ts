/** A port of a load balancer, and what is done there with requests, connections or datagrams. */
import type { ProbeTarget } from "../account.ts";
import type { Transport } from "../balancing/firewall.ts";
import type { HttpRouting } from "./http-front.ts";
import type { LoopbackAddress } from "./pods.ts";
import type { Source } from "./tcp-front.ts";

/** Where on this machine a target listens; undefined where nothing does. */
export type Reach = (target: Pick<ProbeTarget, "instanceId" | "address" | "port">, transport?: Transport) => LoopbackAddress | undefined;

/** A port that a data plane opens. */
export interface Front {
  /** The same while the socket can stay as it is. */
  readonly key: string;
  /** In lower case. */
  readonly dnsName: string;
  readonly port: number;
  readonly protocol: string;
  readonly secure: boolean;
  /** ARNs, the default certificate first. */
  readonly certificates: () => readonly string[];
  readonly clientCertificates: "off" | "passthrough" | "verify";
  readonly serving:
    | { readonly kind: "http"; readonly routing: () => HttpRouting }
    | { readonly kind: Transport; readonly decide: (source: Source) => LoopbackAddress | undefined };
}

/** What every front has of the plane it is part of. */
export interface Shared {
  readonly reach: Reach;
  readonly turn: (key: string) => number;
  readonly used: (keys: readonly string[]) => void;
  readonly addressOf: (dnsName: string, port: number) => LoopbackAddress | undefined;
}
