/** The security group that all load balancers of a cluster share towards their targets: made when first needed, by one writer. */

import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { createSecurityGroup } from "../../aws/ec2-actions.ts";
import { awsErrorIn, isAwsError } from "../../aws/errors.ts";
import type { SecurityGroup } from "../../aws/security-groups.ts";
import { backendGroupName, clusterTag } from "../controller-names.ts";
import { type Inventory, reconcileAges } from "../inventory.ts";
import type { Tags } from "../model.ts";
import { planGroupDeletion, planGroupTags, tagList } from "./managed.ts";

const resourceTag = "elbv2.k8s.aws/resource";
const resource = "backend-sg";
const missingGroup = ["InvalidSecurityGroup", "InvalidGroup.NotFound", "InvalidSecurityGroupID.NotFound"];

export interface BackendGroupOptions {
  readonly inventory: Inventory;
  readonly settings: {
    readonly cluster: string;
    readonly defaultTags: Tags;
    /** Keys of tags that others keep. */
    readonly externalManagedTags: readonly string[];
    /** Whether load balancers share a group towards their targets. */
    readonly sharesBackendGroup: boolean;
  };
  /** `--backend-security-group`: lent to us, and never edited nor deleted. */
  readonly given?: string;
}

/** Whether these are the tags of the group that load balancers of a cluster share. */
export const isSharedGroup = (tags: Tags, cluster: string) => tags[clusterTag] === cluster && tags[resourceTag] === resource;

export class BackendGroup {
  readonly #options: BackendGroupOptions;
  readonly #users: (() => boolean)[] = [];
  #making: Promise<string | undefined> | undefined;

  constructor(options: BackendGroupOptions) {
    this.#options = options;
  }

  /** Every door says whether one of its objects has, or wants, a load balancer. Where it is not known yet the answer is yes. */
  addUser(needsIt: () => boolean): void {
    this.#users.push(needsIt);
  }

  get isNeeded(): boolean {
    return this.#users.some((needsIt) => needsIt());
  }

  /** Its id where it stands, or is lent to us; nothing is made. */
  async known(ask: Ask): Promise<string | undefined> {
    const { settings, given } = this.#options;
    return settings.sharesBackendGroup ? (given ?? (await this.#find(ask))?.id) : undefined;
  }

  /** Its id; undefined where load balancers share none. */
  async id(ask: Ask): Promise<string | undefined> {
    const { settings, given } = this.#options;
    if (!settings.sharesBackendGroup) return undefined;
    if (given !== undefined) return given;
    this.#making ??= this.#find(ask).then((found) => (found ? this.#tagged(found, ask) : this.#make(ask)));
    try {
      return await this.#making;
    } catch (error) {
      this.#making = undefined;
      throw error;
    }
  }

  /** AWS does not know a group that it was given: should it be this one, which somebody has deleted by hand, the next one looks again. */
  noteFailure(error: unknown): void {
    if (!missingGroup.includes(awsErrorIn(error)?.code ?? "")) return;
    const name = backendGroupName(this.#options.settings.cluster);
    this.#making = undefined;
    this.#options.inventory.touchGroup({ name }, name);
  }

  /** To be called when nobody needs it any more. Says whether it is gone. */
  async release(ask: Ask): Promise<boolean> {
    const { inventory, settings, given } = this.#options;
    if (given !== undefined || !settings.sharesBackendGroup) return true;
    const id = (await this.#find(ask))?.id;
    this.#making = undefined;
    if (id === undefined) return true;
    const name = backendGroupName(settings.cluster);
    try {
      const applied = await apply([planGroupDeletion({ id, name }, "no load balancer uses it")], inventory.cloud, ask);
      return applied.kind === "done";
    } finally {
      // Whoever has asked meanwhile was given what may be gone now: the next one looks again.
      this.#making = undefined;
      inventory.touchGroup({ name, id }, name);
    }
  }

  async #find(ask: Ask): Promise<SecurityGroup | undefined> {
    const { inventory, settings } = this.#options;
    const name = backendGroupName(settings.cluster);
    const groups = await inventory.groups.all(reconcileAges.absentMs, ask, name);
    return groups.find(({ tags }) => isSharedGroup(tags, settings.cluster));
  }

  get #ownership(): Tags {
    return { [clusterTag]: this.#options.settings.cluster, [resourceTag]: resource };
  }

  /** One that stands has the tags that are asked for now. That AWS refuses them is no reason to go without the group. */
  async #tagged(found: SecurityGroup, ask: Ask): Promise<string> {
    const { inventory, settings } = this.#options;
    const { defaultTags: tags, externalManagedTags } = settings;
    const { name } = found;
    const wanted = { name, tags, ownership: this.#ownership, isForeignTag: (key: string) => externalManagedTags.includes(key) };
    const steps = planGroupTags(wanted, found);
    if (steps.length === 0) return found.id;
    try {
      await apply(steps, inventory.cloud, ask);
    } catch (error) {
      if (!isAwsError(error)) throw error;
    } finally {
      inventory.touchGroup({ name }, name);
    }
    return found.id;
  }

  async #make(ask: Ask): Promise<string | undefined> {
    const { inventory, settings } = this.#options;
    const { vpc } = inventory.scope;
    const name = backendGroupName(settings.cluster);
    const tags: Tags = { ...settings.defaultTags, ...this.#ownership };
    try {
      const { GroupId } = await inventory.cloud.call(
        createSecurityGroup,
        {
          GroupName: name,
          Description: "[k8s] Shared Backend SecurityGroup for LoadBalancer",
          VpcId: vpc,
          TagSpecifications: [{ ResourceType: "security-group", Tags: tagList(tags) }],
        },
        { ...ask, target: `create security group ${name}` },
      );
      return GroupId;
    } finally {
      inventory.touchGroup({ name }, name);
    }
  }
}
