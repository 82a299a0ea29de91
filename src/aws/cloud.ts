/** AWS as the rest of the program sees it: one `Clouds` a process, one `Cloud` for each region and each identity used there. */
import type { WriteGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { Transport } from "../runtime/http.ts";
import type { Clock } from "../runtime/world.ts";
import type { Action, AnyAction } from "./actions.ts";
import { assumeRole, assumeRoleWithToken, type ForeignRole, sourceHeaders } from "./assume-role.ts";
import { AvailabilityZones } from "./availability-zones.ts";
import { type BudgetView, Caller, type CallOptions } from "./caller.ts";
import { Certificates } from "./certificates.ts";
import { ClassicLoadBalancers } from "./classic-load-balancers.ts";
import { findCredentials } from "./credential-chain.ts";
import { anonymous, type CredentialSource, kept } from "./credentials.ts";
import { HostedZones } from "./hosted-zones.ts";
import { Images } from "./images.ts";
import { InstanceTypes } from "./instance-types.ts";
import { Instances } from "./instances.ts";
import { CallMetrics, Ledger } from "./ledger.ts";
import { Listeners } from "./listeners.ts";
import { LoadBalancers } from "./load-balancers.ts";
import { Metadata } from "./metadata.ts";
import { NetworkInterfaces } from "./network-interfaces.ts";
import { type Partition, partitionOf } from "./partitions.ts";
import { Protections } from "./protections.ts";
import { type RegionFound, resolveRegion } from "./regions.ts";
import { RouteTables } from "./route-tables.ts";
import type { Shape } from "./scan.ts";
import { SecurityGroups } from "./security-groups.ts";
import type { AwsSettings } from "./settings.ts";
import { Snapshots } from "./snapshots.ts";
import { Subnets } from "./subnets.ts";
import { TaggedResources } from "./tagged-resources.ts";
import { ResourceTags } from "./tags.ts";
import { Topology } from "./topology.ts";
import { TrustStores } from "./trust-stores.ts";
import { Volumes } from "./volumes.ts";
import { Vpcs } from "./vpcs.ts";

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
  in(region: string, role?: string | ForeignRole): Cloud {
    const key = typeof role === "object" ? `${region} ${role.arn} ${role.externalId ?? ""} ${role.sessionName}` : `${region} ${role ?? ""}`;
    let cloud = this.#clouds.get(key);
    if (cloud === undefined) {
      cloud = new Cloud(
        region,
        this.#options.host,
        (ledger) => this.#caller(region, this.#credentials(region, role, ledger), ledger),
        this.#metrics,
      );
      this.#clouds.set(key, cloud);
    }
    return cloud;
  }

  #credentials(region: string, role: string | ForeignRole | undefined, ledger: Ledger): CredentialSource {
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
    if (role === undefined) return own;
    const headers = typeof role === "string" ? sourceHeaders({ ...settings, roleArn: role }) : undefined;
    const asOurselves = this.#caller(region, own, ledger, headers);
    return kept(world, (signal) => assumeRole(asOurselves, role, world.clock, signal));
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

/**
 * One region as one identity. Its nouns (`instances`, `subnets`, …) are made when somebody first asks for them: a process
 * pays for the caches and queues of its own domains only.
 */
export class Cloud {
  readonly region: string;
  readonly partition: Partition;
  readonly ledger: Ledger;
  readonly #caller: Caller;
  readonly #clock: Clock;
  #instances: Instances | undefined;
  #instanceTypes: InstanceTypes | undefined;
  #images: Images | undefined;
  #availabilityZones: AvailabilityZones | undefined;
  #networkInterfaces: NetworkInterfaces | undefined;
  #topology: Topology | undefined;
  #routeTables: RouteTables | undefined;
  #subnets: Subnets | undefined;
  #securityGroups: SecurityGroups | undefined;
  #classicLoadBalancers: ClassicLoadBalancers | undefined;
  #loadBalancers: LoadBalancers | undefined;
  #listeners: Listeners | undefined;
  #certificates: Certificates | undefined;
  #hostedZones: HostedZones | undefined;
  #trustStores: TrustStores | undefined;
  #protections: Protections | undefined;
  #vpcs: Vpcs | undefined;
  #volumes: Volumes | undefined;
  #snapshots: Snapshots | undefined;
  #tags: ResourceTags | undefined;
  #taggedResources: TaggedResources | undefined;

  constructor(region: string, host: Host, callerFor: (ledger: Ledger) => Caller, metrics: CallMetrics) {
    this.region = region;
    this.partition = partitionOf(region);
    this.ledger = new Ledger(metrics);
    this.#caller = callerFor(this.ledger);
    this.#clock = host.world.clock;
  }

  get instances(): Instances {
    this.#instances ??= new Instances(this.#caller, this.#clock);
    return this.#instances;
  }

  get instanceTypes(): InstanceTypes {
    this.#instanceTypes ??= new InstanceTypes(this.#caller);
    return this.#instanceTypes;
  }

  get images(): Images {
    this.#images ??= new Images(this.#caller);
    return this.#images;
  }

  get availabilityZones(): AvailabilityZones {
    this.#availabilityZones ??= new AvailabilityZones(this.#caller, this.#clock);
    return this.#availabilityZones;
  }

  get networkInterfaces(): NetworkInterfaces {
    this.#networkInterfaces ??= new NetworkInterfaces(this.#caller, this.#clock);
    return this.#networkInterfaces;
  }

  get topology(): Topology {
    this.#topology ??= new Topology(this.#caller, this.#clock);
    return this.#topology;
  }

  get routeTables(): RouteTables {
    this.#routeTables ??= new RouteTables(this.#caller);
    return this.#routeTables;
  }

  get subnets(): Subnets {
    this.#subnets ??= new Subnets(this.#caller);
    return this.#subnets;
  }

  get securityGroups(): SecurityGroups {
    this.#securityGroups ??= new SecurityGroups(this.#caller, this.#clock);
    return this.#securityGroups;
  }

  get classicLoadBalancers(): ClassicLoadBalancers {
    this.#classicLoadBalancers ??= new ClassicLoadBalancers(this.#caller, this.#clock);
    return this.#classicLoadBalancers;
  }

  get loadBalancers(): LoadBalancers {
    this.#loadBalancers ??= new LoadBalancers(this.#caller, this.#clock);
    return this.#loadBalancers;
  }

  get certificates(): Certificates {
    this.#certificates ??= new Certificates(this.#caller, this.#clock);
    return this.#certificates;
  }

  get hostedZones(): HostedZones {
    this.#hostedZones ??= new HostedZones(this.#caller, this.#clock);
    return this.#hostedZones;
  }

  get trustStores(): TrustStores {
    this.#trustStores ??= new TrustStores(this.#caller, this.#clock);
    return this.#trustStores;
  }

  get protections(): Protections {
    this.#protections ??= new Protections(this.#caller, this.#clock);
    return this.#protections;
  }

  get listeners(): Listeners {
    this.#listeners ??= new Listeners(this.#caller);
    return this.#listeners;
  }

  get vpcs(): Vpcs {
    this.#vpcs ??= new Vpcs(this.#caller, this.#clock);
    return this.#vpcs;
  }

  get volumes(): Volumes {
    this.#volumes ??= new Volumes(this.#caller, this.#clock);
    return this.#volumes;
  }

  get snapshots(): Snapshots {
    this.#snapshots ??= new Snapshots(this.#caller, this.#clock);
    return this.#snapshots;
  }

  get taggedResources(): TaggedResources {
    this.#taggedResources ??= new TaggedResources(this.#caller);
    return this.#taggedResources;
  }

  get tags(): ResourceTags {
    // What was remembered of an instance is its tags too.
    this.#tags ??= new ResourceTags(this.#caller, this.#clock, (resources) => this.#instances?.forget(resources));
    return this.#tags;
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

  /** The same of every action that was called so far. */
  budgets(): readonly BudgetView[] {
    return this.#caller.budgets();
  }
}
