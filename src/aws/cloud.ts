/** AWS as the rest of the program sees it: one `Clouds` a process, one `Cloud` for each region and each identity used there. */
import type { WriteGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { Transport } from "../runtime/http.ts";
import type { Action, AnyAction } from "./actions.ts";
import { assumeRole, assumeRoleWithToken, sourceHeaders } from "./assume-role.ts";
import { AvailabilityZones } from "./availability-zones.ts";
import { Caller, type CallOptions } from "./caller.ts";
import { ClassicLoadBalancers } from "./classic-load-balancers.ts";
import { findCredentials } from "./credential-chain.ts";
import { anonymous, type CredentialSource, kept } from "./credentials.ts";
import { Instances } from "./instances.ts";
import { CallMetrics, Ledger } from "./ledger.ts";
import { Listeners } from "./listeners.ts";
import { LoadBalancers } from "./load-balancers.ts";
import { Metadata } from "./metadata.ts";
import { NetworkInterfaces } from "./network-interfaces.ts";
import { type Partition, partitionOf } from "./partitions.ts";
import { type RegionFound, resolveRegion } from "./regions.ts";
import { RouteTables } from "./route-tables.ts";
import type { Shape } from "./scan.ts";
import { SecurityGroups } from "./security-groups.ts";
import type { AwsSettings } from "./settings.ts";
import { Subnets } from "./subnets.ts";
import { ResourceTags } from "./tags.ts";
import { Topology } from "./topology.ts";

export interface CloudsOptions {
  readonly host: Host;
  readonly transport: Transport;
  readonly gate: WriteGate;
  readonly settings: AwsSettings;
  /** Of Fairlead, for the user agent. */
  readonly version: string;
}

export class Clouds {
  readonly metadata: Metadata;
  readonly #options: CloudsOptions;
  readonly #metrics: CallMetrics;
  readonly #clouds = new Map<string, Cloud>();
  #region: Promise<RegionFound> | undefined;

  constructor(options: CloudsOptions) {
    this.#options = options;
    this.#metrics = new CallMetrics(options.host.metrics);
    this.metadata = new Metadata(options.host.world, options.transport, options.settings);
  }

  /** The cloud of the region this process works in, as the role it is configured to act as. */
  async home(signal?: AbortSignal): Promise<Cloud> {
    const { settings, host } = this.#options;
    // A failure is not kept: what it came from may pass.
    this.#region ??= resolveRegion(settings, host.world.environment, this.metadata, signal).catch((error: unknown) => {
      this.#region = undefined;
      throw error;
    });
    const { region, source } = await this.#region;
    host.log.v(1)?.info("AWS region", { region, source });
    return this.in(region, settings.roleArn);
  }

  /** The cloud of a region, as the role if one is given, else as the process's own identity. */
  in(region: string, roleArn?: string): Cloud {
    const key = `${region} ${roleArn ?? ""}`;
    let cloud = this.#clouds.get(key);
    if (cloud === undefined) {
      cloud = new Cloud(
        region,
        this.#options.host,
        (ledger) => this.#caller(region, this.#credentials(region, roleArn, ledger), ledger),
        this.#metrics,
      );
      this.#clouds.set(key, cloud);
    }
    return cloud;
  }

  #credentials(region: string, roleArn: string | undefined, ledger: Ledger): CredentialSource {
    const { host, transport, settings } = this.#options;
    const { world } = host;
    const unsigned = this.#caller(region, anonymous, ledger);
    const own = kept(world, (signal) =>
      findCredentials(
        {
          world,
          transport,
          region,
          metadata: this.metadata,
          assumeWithToken: (role, within) => assumeRoleWithToken(unsigned, role, within),
        },
        signal,
      ),
    );
    if (roleArn === undefined) return own;
    const asOurselves = this.#caller(region, own, ledger, sourceHeaders({ ...settings, roleArn }));
    return kept(world, (signal) => assumeRole(asOurselves, roleArn, world.clock, signal));
  }

  #caller(region: string, credentials: CredentialSource, ledger: Ledger, headers?: Readonly<Record<string, string>>): Caller {
    const { host, transport, gate, settings, version } = this.#options;
    return new Caller({
      host,
      transport,
      gate,
      settings,
      region,
      credentials,
      ledger,
      userAgent: ["fairlead", version],
      ...(headers === undefined ? {} : { headers }),
    });
  }
}

export class Cloud {
  readonly region: string;
  readonly partition: Partition;
  readonly ledger: Ledger;
  readonly instances: Instances;
  readonly availabilityZones: AvailabilityZones;
  readonly networkInterfaces: NetworkInterfaces;
  readonly topology: Topology;
  readonly tags: ResourceTags;
  readonly routeTables: RouteTables;
  readonly subnets: Subnets;
  readonly securityGroups: SecurityGroups;
  readonly classicLoadBalancers: ClassicLoadBalancers;
  readonly loadBalancers: LoadBalancers;
  readonly listeners: Listeners;
  readonly #caller: Caller;

  constructor(region: string, host: Host, callerFor: (ledger: Ledger) => Caller, metrics: CallMetrics) {
    const { clock } = host.world;
    this.region = region;
    this.partition = partitionOf(region);
    this.ledger = new Ledger(metrics);
    const caller = callerFor(this.ledger);
    this.#caller = caller;
    this.instances = new Instances(caller, clock);
    this.availabilityZones = new AvailabilityZones(caller, clock);
    this.networkInterfaces = new NetworkInterfaces(caller, clock);
    this.topology = new Topology(caller, clock);
    this.routeTables = new RouteTables(caller);
    this.subnets = new Subnets(caller);
    this.securityGroups = new SecurityGroups(caller, clock);
    this.classicLoadBalancers = new ClassicLoadBalancers(caller, clock);
    this.loadBalancers = new LoadBalancers(caller, clock);
    this.listeners = new Listeners(caller);
    this.tags = new ResourceTags(caller, clock, (resources) => this.instances.forget(resources));
  }

  /** Calls an action. What has a noun of its own is better asked there: it is joined and remembered. */
  call<Input extends object, Output>(action: Action<Input, Output>, input: Input, options: CallOptions): Promise<Output> {
    return this.#caller.call(action, input, options);
  }

  /** Calls an action whose answer grows with the cluster, and reads of it only what the shape names. */
  scan<Input extends object, T>(action: Action<Input, unknown>, input: Input, shape: Shape<T>, options: CallOptions): Promise<T> {
    return this.#caller.scan(action, input, shape, options);
  }

  /** Loads the SDK's code for an action ahead of its first call: simulation cannot wait for files in the middle of it. */
  preload(action: AnyAction): Promise<void> {
    return this.#caller.preload(action);
  }

  /** Calls per second an action may be made at this moment, and how many wait for it. */
  budget(action: AnyAction): { readonly rate: number; readonly waiting: number } {
    return this.#caller.budget(action);
  }
}
