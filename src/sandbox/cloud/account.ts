import type { Log } from "../../runtime/log.ts";
import type { Principals } from "./access/principals.ts";
import type { Settings } from "./controls/settings.ts";
import type { Ec2 } from "./ec2/state.ts";
import type { Ids } from "./ids.ts";
import type { Sqs } from "./sqs/state.ts";
import type { Store } from "./store.ts";
import type { Time } from "./time.ts";

/** What every service of one account in one region stands on. */
export interface Account {
  readonly id: string;
  readonly region: string;
  readonly partition: string;
  /** `amazonaws.com`, or what the partition has instead. */
  readonly dnsSuffix: string;
  readonly time: Time;
  readonly ids: Ids;
  readonly store: Store;
  readonly principals: Principals;
  readonly log: Log;
  /** As they are at this moment. */
  readonly settings: () => Settings;
  /** The network and its machines, which load balancers and the metadata service stand on. */
  readonly ec2: Ec2;
  /** The queues, which other services send their notices to. */
  readonly sqs: Sqs;
  /** Answers health checks in the place of what runs on the machines. */
  readonly probe: Probe;
}

/** One health check on its way to a machine. */
export interface ProbeTarget {
  readonly instanceId: string | undefined;
  readonly address: string;
  readonly port: number;
  readonly protocol: "TCP" | "SSL" | "HTTP" | "HTTPS";
  readonly path: string | undefined;
  /** Whether it is a call of gRPC. */
  readonly grpc?: boolean | undefined;
}

/** What came back: a connection (with a status, if it was HTTP), a refused one, or nothing. */
export type ProbeResult =
  | { readonly kind: "answered"; readonly status: number; readonly grpcStatus?: number }
  | { readonly kind: "refused" }
  | { readonly kind: "silent" };

/** Whoever answers health checks. */
export type Probe = (target: ProbeTarget) => ProbeResult;

/** `arn:aws:ec2:us-east-1:123456789012:…` */
export function arn(account: Pick<Account, "partition" | "region" | "id">, service: string, resource: string): string {
  return `arn:${account.partition}:${service}:${account.region}:${account.id}:${resource}`;
}
