/** Launch configurations: what a group launches, in its older form. Launch templates are not modelled. */
import type { _InstanceType, RunInstancesRequest } from "@aws-sdk/client-ec2";
import { arn } from "../account.ts";
import { ServiceError } from "../errors.ts";
import type { Table } from "../store.ts";
import { page } from "./lookups.ts";
import type { AutoScaling } from "./state.ts";

const PAGES = { usual: 50, max: 100 };

/** A launch configuration. It never changes. */
export interface LaunchConfiguration {
  readonly name: string;
  readonly arn: string;
  readonly imageId: string;
  readonly instanceType: string;
  readonly securityGroups: readonly string[];
  readonly spotPrice: string | undefined;
  readonly instanceProfile: string | undefined;
  readonly created: number;
}

/** What CreateLaunchConfiguration takes, as far as it is modelled. */
export interface LaunchConfigurationInput {
  readonly LaunchConfigurationName: string;
  readonly ImageId?: string;
  readonly InstanceType?: string;
  readonly SecurityGroups?: readonly string[];
  readonly SpotPrice?: string;
  readonly IamInstanceProfile?: string;
}

export function createLaunchConfiguration(as: AutoScaling, input: LaunchConfigurationInput): void {
  const { LaunchConfigurationName: name, ImageId: imageId, InstanceType: instanceType } = input;
  if (configurations(as).has(name)) {
    throw new ServiceError(
      "AlreadyExists",
      `Launch Configuration by this name already exists - A launch configuration already exists with the name ${name}`,
    );
  }
  if (!imageId) throw new ServiceError("ValidationError", "Launch configuration needs the parameter ImageId.");
  if (!instanceType) throw new ServiceError("ValidationError", "Launch configuration needs the parameter InstanceType.");
  configurations(as).put(name, {
    name,
    arn: arn(as.account, "autoscaling", `launchConfiguration:${as.account.ids.uuid()}:launchConfigurationName/${name}`),
    imageId,
    instanceType,
    securityGroups: input.SecurityGroups ?? [],
    spotPrice: input.SpotPrice,
    instanceProfile: input.IamInstanceProfile,
    created: as.account.time.now(),
  });
}

export function deleteLaunchConfiguration(
  as: AutoScaling,
  { LaunchConfigurationName: name }: { readonly LaunchConfigurationName: string },
): void {
  findConfiguration(as, name);
  if (as.groups.values().some(({ launchConfiguration }) => launchConfiguration === name)) {
    throw new ServiceError("ResourceInUse", `Cannot delete launch configuration ${name} because it is attached to an AutoScalingGroup`);
  }
  configurations(as).delete(name);
}

/** By name, or all; a name that is unknown is left out. */
export function describeLaunchConfigurations(
  as: AutoScaling,
  input: { readonly LaunchConfigurationNames?: readonly string[]; readonly MaxRecords?: number; readonly NextToken?: string },
) {
  const { LaunchConfigurationNames: names } = input;
  const asked = configurations(as)
    .values()
    .filter(({ name }) => !names?.length || names.includes(name));
  const { items, NextToken } = page(asked, ({ name }) => name, input, PAGES);
  return {
    LaunchConfigurations: items.map((each) => ({
      LaunchConfigurationName: each.name,
      LaunchConfigurationARN: each.arn,
      ImageId: each.imageId,
      InstanceType: each.instanceType,
      SecurityGroups: each.securityGroups,
      SpotPrice: each.spotPrice,
      InstanceMonitoring: { Enabled: true },
      EbsOptimized: false,
      IamInstanceProfile: each.instanceProfile,
      CreatedTime: new Date(each.created),
    })),
    NextToken,
  };
}

/** What a configuration launches. */
export function launchOfConfiguration(as: AutoScaling, name: string): RunInstancesRequest {
  const { imageId, instanceType, securityGroups, spotPrice, instanceProfile } = findConfiguration(as, name);
  return {
    ImageId: imageId,
    InstanceType: instanceType as _InstanceType,
    MinCount: 1,
    MaxCount: 1,
    ...(securityGroups.length > 0 && { SecurityGroupIds: [...securityGroups] }),
    ...(spotPrice && { InstanceMarketOptions: { MarketType: "spot", SpotOptions: { MaxPrice: spotPrice } } }),
    ...(instanceProfile && {
      IamInstanceProfile: instanceProfile.startsWith("arn:") ? { Arn: instanceProfile } : { Name: instanceProfile },
    }),
  };
}

/** A group can be made in the likeness of an instance. */
export function launchOfInstance(as: AutoScaling, instanceId: string): RunInstancesRequest {
  const { instances, interfaces } = as.account.ec2;
  const instance = instances.get(instanceId);
  if (instance === undefined) throw new ServiceError("ValidationError", `The instance ID '${instanceId}' does not exist`);
  const groups = interfaces.get(instance.interfaceIds[0] ?? "")?.groupIds ?? [];
  return {
    ImageId: instance.imageId,
    InstanceType: instance.type as _InstanceType,
    MinCount: 1,
    MaxCount: 1,
    ...(groups.length > 0 && { SecurityGroupIds: [...groups] }),
    ...(instance.spot && { InstanceMarketOptions: { MarketType: "spot" } }),
  };
}

function configurations({ account }: AutoScaling): Table<LaunchConfiguration> {
  return account.store.table("autoscaling/launch-configurations");
}

function findConfiguration(as: AutoScaling, name: string): LaunchConfiguration {
  const found = configurations(as).get(name);
  if (found === undefined)
    throw new ServiceError("ValidationError", `Launch configuration name not found - Launch configuration ${name} not found`);
  return found;
}
