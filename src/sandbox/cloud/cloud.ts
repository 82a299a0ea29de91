/**
 * A simulated AWS account in one region: a function from an HTTP request to an HTTP answer. The same value serves over a
 * socket (`serve`), inside an SDK client (`sdkHandler`), and as a `Transport`.
 */
import { partitionOf } from "../../aws/partitions.ts";
import type { Transport } from "../../runtime/http.ts";
import { type Log, silentLog } from "../../runtime/log.ts";
import type { World } from "../../runtime/world.ts";
import { seededRandom } from "../seeded-random.ts";
import { Principals } from "./access/principals.ts";
import type { Account, Probe } from "./account.ts";
import { type Controls, createControls, type SettingsChange } from "./controls/controls.ts";
import { createEc2 } from "./ec2/state.ts";
import { Gateway } from "./gateway.ts";
import { idsFrom } from "./ids.ts";
import { MetadataService } from "./imds/service.ts";
import { respond } from "./protocol/http.ts";
import { Shapes } from "./protocol/shapes.ts";
import { servicesOf } from "./services.ts";
import { createSqs } from "./sqs/state.ts";
import { Store } from "./store.ts";
import { Time } from "./time.ts";

/** What a cloud is made with; everything but the world has a default. */
export interface CloudOptions {
  readonly world: World;
  /** Ids, faults and delays follow from it. */
  readonly seed?: number;
  readonly account?: string;
  readonly region?: string;
  readonly settings?: SettingsChange;
  readonly log?: Log;
  /** Answers health checks; without it everything that runs is healthy. */
  readonly probe?: Probe;
  /** Compiled schemas, to share between many clouds of one process. */
  readonly shapes?: Shapes;
}

/** One account in one region. */
export interface Cloud {
  /** Serves one AWS request. Rejects with `ConnectionCut` where a socket would have been reset. */
  readonly handle: Transport;
  readonly account: Account;
  readonly controls: Controls;
  /** The metadata service as an instance reaches it, from `hops` network hops away (1 on the machine itself). */
  readonly imds: (instanceId: string, hops?: number) => Transport;
}

/** A new account with its default VPC missing: build a network with `standardNetwork`, or through the API. */
export function createCloud(options: CloudOptions): Cloud {
  const { world, seed = 1, region = "us-east-1" } = options;
  const time = new Time(world.clock);
  const store = new Store(time);
  const names = seededRandom(seed);
  const ids = idsFrom(names);
  const { name: partition, dnsSuffix } = partitionOf(region);
  const id = options.account ?? "123456789012";
  const principals = new Principals(id, partition, ids, time);
  const controls = createControls({ world, seed, names, time, store, principals, settings: options.settings ?? {} });
  const base = {
    id,
    region,
    partition,
    dnsSuffix,
    time,
    ids,
    store,
    principals,
    log: options.log ?? silentLog,
    settings: controls.settings,
    probe: options.probe ?? (() => ({ kind: "answered", status: 200 }) as const),
  };
  const withQueues = { ...base, sqs: createSqs(base) };
  const account: Account = { ...withQueues, ec2: createEc2(withQueues) };
  const gateway = new Gateway({ world, account, controls, services: servicesOf(account), shapes: options.shapes ?? new Shapes() });
  const metadata = new MetadataService(account);
  return {
    account,
    controls,
    imds: (instanceId, hops) => metadata.of(instanceId, hops),
    handle: async (request) => respond(await gateway.serve(request)),
  };
}
