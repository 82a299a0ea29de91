/** Attributes of instances, one at a time. Those of the network live on the primary interface, so that both always agree. */
import {
  DescribeInstanceAttribute$,
  type DescribeInstanceAttributeRequest,
  type InstanceAttribute,
  ModifyInstanceAttribute$,
  type ModifyInstanceAttributeRequest,
  ModifyInstanceMetadataOptions$,
  type ModifyInstanceMetadataOptionsRequest,
  type ModifyInstanceMetadataOptionsResult,
  ModifyPrivateDnsNameOptions$,
  type ModifyPrivateDnsNameOptionsRequest,
  type ModifyPrivateDnsNameOptionsResult,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { interfacesOf } from "./instance-answers.ts";
import { instanceTypeNamed } from "./instance-types.ts";
import { groupsOf } from "./interface-answers.ts";
import { checkedGroups } from "./interfaces.ts";
import { find, KINDS } from "./kinds.ts";
import { instanceName } from "./names.ts";
import type { Ec2, Instance, NetworkInterface } from "./state.ts";

/** The operations on attributes. */
export function instanceAttributeOperations(ec2: Ec2): Operations {
  return [
    write<ModifyInstanceAttributeRequest, void>(ModifyInstanceAttribute$, (input) => modify(ec2, input)),
    read<DescribeInstanceAttributeRequest, InstanceAttribute>(DescribeInstanceAttribute$, (input) => describe(ec2, input)),
    write<ModifyInstanceMetadataOptionsRequest, ModifyInstanceMetadataOptionsResult>(ModifyInstanceMetadataOptions$, (input) => {
      const { id, metadata } = find(ec2.instances, KINDS.instance, input.InstanceId!);
      ec2.instances.update(id, {
        metadata: {
          endpoint: input.HttpEndpoint === undefined ? metadata.endpoint : input.HttpEndpoint === "enabled",
          tokensRequired: input.HttpTokens === undefined ? metadata.tokensRequired : input.HttpTokens === "required",
          hopLimit: input.HttpPutResponseHopLimit ?? metadata.hopLimit,
          tags: input.InstanceMetadataTags === undefined ? metadata.tags : input.InstanceMetadataTags === "enabled",
          ipv6: input.HttpProtocolIpv6 === undefined ? metadata.ipv6 : input.HttpProtocolIpv6 === "enabled",
        },
      });
      return { InstanceId: id, InstanceMetadataOptions: { State: "pending" } };
    }),
    write<ModifyPrivateDnsNameOptionsRequest, ModifyPrivateDnsNameOptionsResult>(ModifyPrivateDnsNameOptions$, (input) => {
      const instance = find(ec2.instances, KINDS.instance, input.InstanceId!);
      if (input.PrivateDnsHostnameType !== undefined && instance.state !== "stopped") throw notStopped(instance);
      const names = {
        hostnameType: input.PrivateDnsHostnameType ?? instance.names.hostnameType,
        aRecord: input.EnableResourceNameDnsARecord ?? instance.names.aRecord,
        aaaaRecord: input.EnableResourceNameDnsAAAARecord ?? instance.names.aaaaRecord,
      };
      const address = interfacesOf(ec2, instance)[0]?.privateAddresses[0];
      ec2.instances.update(instance.id, { names, privateDnsName: instanceName(ec2, names, instance.id, address) });
      return { Return: true };
    }),
  ];
}

function modify(ec2: Ec2, input: ModifyInstanceAttributeRequest): void {
  const instance = find(ec2.instances, KINDS.instance, input.InstanceId!);
  if (instance.state === "terminated" || instance.state === "shutting-down") {
    throw new ServiceError("IncorrectInstanceState", `Instance '${instance.id}' is not in a valid state for this operation.`);
  }
  const flag = input.Attribute === "sourceDestCheck" ? input.Value === "true" : input.SourceDestCheck?.Value;
  if (flag !== undefined) ec2.interfaces.update(onlyInterface(ec2, instance).id, { sourceDestCheck: flag });
  if (input.Groups?.length) {
    const one = onlyInterface(ec2, instance);
    ec2.interfaces.update(one.id, { groupIds: checkedGroups(ec2, one.vpcId, input.Groups) });
  }
  const type = input.InstanceType?.Value === undefined ? undefined : instanceTypeNamed(input.InstanceType.Value);
  if (input.InstanceType !== undefined) {
    if (instance.state !== "stopped") throw notStopped(instance);
    if (type === undefined)
      throw new ServiceError("InvalidInstanceAttributeValue", `The instance type '${input.InstanceType.Value}' is not supported.`);
  }
  ec2.instances.update(instance.id, {
    type: type?.name ?? instance.type,
    terminationProtection: input.DisableApiTermination?.Value ?? instance.terminationProtection,
    stopProtection: input.DisableApiStop?.Value ?? instance.stopProtection,
    shutdownTerminates:
      input.InstanceInitiatedShutdownBehavior === undefined
        ? instance.shutdownTerminates
        : input.InstanceInitiatedShutdownBehavior.Value === "terminate",
  });
}

/** EC2 takes an attribute of the network for the whole instance only while it has one interface. */
function onlyInterface(ec2: Ec2, instance: Instance): NetworkInterface {
  const interfaces = interfacesOf(ec2, instance);
  if (interfaces.length !== 1) {
    throw new ServiceError(
      "InvalidInstanceID",
      `There are multiple interfaces attached to instance '${instance.id}'. Please specify an interface ID for the operation instead.`,
    );
  }
  return interfaces[0]!;
}

function describe(ec2: Ec2, input: DescribeInstanceAttributeRequest): InstanceAttribute {
  const instance = find(ec2.instances, KINDS.instance, input.InstanceId!);
  const primary = interfacesOf(ec2, instance)[0];
  const answers: Readonly<Record<string, InstanceAttribute>> = {
    disableApiTermination: { DisableApiTermination: { Value: instance.terminationProtection } },
    disableApiStop: { DisableApiStop: { Value: instance.stopProtection } },
    groupSet: { Groups: primary === undefined ? [] : groupsOf(ec2, primary) },
    instanceInitiatedShutdownBehavior: { InstanceInitiatedShutdownBehavior: { Value: instance.shutdownTerminates ? "terminate" : "stop" } },
    instanceType: { InstanceType: { Value: instance.type } },
    sourceDestCheck: { SourceDestCheck: { Value: primary?.sourceDestCheck ?? true } },
    userData: { UserData: { Value: instance.userData } },
  };
  const answer = answers[input.Attribute!];
  if (answer === undefined)
    throw new ServiceError("InvalidParameterValue", `Value (${input.Attribute}) for parameter attribute is invalid.`);
  return { InstanceId: instance.id, ...answer };
}

function notStopped(instance: Instance): ServiceError {
  return new ServiceError("IncorrectInstanceState", `The instance '${instance.id}' is not in the 'stopped' state.`);
}
