/** Instances and volumes. */
import {
  AttachVolumeCommand,
  CreateTagsCommand,
  CreateVolumeCommand,
  DeleteVolumeCommand,
  DescribeImagesCommand,
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  DescribeVolumesCommand,
  DetachVolumeCommand,
  type Instance,
  ModifyInstanceAttributeCommand,
  ModifyVolumeCommand,
  RunInstancesCommand,
  StartInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
  type _InstanceType as TypeName,
  type VolumeType,
} from "@aws-sdk/client-ec2";
import type { Fields } from "../plan.ts";
import type { ResourceType } from "../plugin.ts";
import { type Aws, optionalText, persist, retag, tagged, tagList, tagsIn, text, texts, unlessMissing, waitFor } from "./account.ts";

export function machineTypes(aws: Aws): Readonly<Record<string, ResourceType>> {
  return { aws_instance: instance(aws), aws_ebs_volume: volume(aws), aws_volume_attachment: attachment(aws) };
}

function instance(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const find = async (id: string): Promise<Instance | undefined> => {
    const found = await unlessMissing(ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] })));
    return found?.Reservations?.[0]?.Instances?.[0];
  };
  const inState = (id: string, state: string) =>
    waitFor(aws, `${id} to be ${state}`, async () => ((await find(id))?.State?.Name === state ? true : undefined));

  const read = async (state: Fields): Promise<Fields | undefined> => {
    const found = await find(text(state.id));
    if (found === undefined || found.State?.Name === "terminated" || found.State?.Name === "shutting-down") return undefined;
    const root = found.BlockDeviceMappings?.find(({ DeviceName }) => DeviceName === found.RootDeviceName)?.Ebs;
    const { Volumes = [] } = await ec2.send(new DescribeVolumesCommand({ VolumeIds: [root!.VolumeId!] }));
    const attribute = new DescribeInstanceAttributeCommand({ InstanceId: found.InstanceId!, Attribute: "sourceDestCheck" });
    const { SourceDestCheck } = await ec2.send(attribute);
    const [disk] = Volumes;
    const before = ((state.root_block_device ?? []) as readonly Fields[])[0] ?? {};
    return {
      id: found.InstanceId!,
      ami: found.ImageId!,
      instance_type: found.InstanceType!,
      instance_state: found.State!.Name!,
      availability_zone: found.Placement!.AvailabilityZone!,
      subnet_id: found.SubnetId!,
      key_name: found.KeyName ?? null,
      private_ip: found.PrivateIpAddress ?? null,
      private_dns: found.PrivateDnsName ?? null,
      public_ip: found.PublicIpAddress ?? "",
      public_dns: found.PublicDnsName ?? "",
      primary_network_interface_id: found.NetworkInterfaces?.[0]?.NetworkInterfaceId ?? null,
      iam_instance_profile: found.IamInstanceProfile?.Arn?.split("/").at(-1) ?? "",
      source_dest_check: SourceDestCheck?.Value ?? true,
      vpc_security_group_ids: (found.SecurityGroups ?? []).map(({ GroupId }) => GroupId!),
      associate_public_ip_address: state.associate_public_ip_address ?? null,
      root_block_device: [
        {
          ...before,
          delete_on_termination: root?.DeleteOnTermination ?? true,
          device_name: found.RootDeviceName!,
          encrypted: disk?.Encrypted ?? false,
          iops: disk?.Iops ?? null,
          throughput: disk?.Throughput ?? null,
          volume_id: root?.VolumeId ?? null,
          volume_size: disk?.Size ?? null,
          volume_type: disk?.VolumeType ?? null,
          ...tagsIn(before, disk?.Tags),
        },
      ],
      ...tagsIn(state, found.Tags),
    };
  };

  return {
    fixed: ["ami", "subnet_id", "availability_zone", "key_name", "iam_instance_profile", "associate_public_ip_address"],
    plain: ["user_data"],
    read,
    async create(wanted) {
      const [root = {}] = (wanted.root_block_device ?? []) as readonly Fields[];
      const { Images = [] } = await ec2.send(new DescribeImagesCommand({ ImageIds: [text(wanted.ami)] }));
      const groups = texts(wanted.vpc_security_group_ids);
      const address = typeof wanted.associate_public_ip_address === "boolean" ? wanted.associate_public_ip_address : undefined;
      const [metadata] = (wanted.metadata_options ?? []) as readonly Fields[];
      const { Instances } = await ec2.send(
        new RunInstancesCommand({
          MinCount: 1,
          MaxCount: 1,
          ImageId: text(wanted.ami),
          InstanceType: text(wanted.instance_type) as TypeName,
          KeyName: optionalText(wanted.key_name),
          UserData: optionalText(wanted.user_data) && Buffer.from(text(wanted.user_data)).toString("base64"),
          IamInstanceProfile: { Name: text(wanted.iam_instance_profile) },
          MetadataOptions: metadata && {
            HttpEndpoint: "enabled",
            HttpTokens: metadata.http_tokens === "required" ? "required" : "optional",
          },
          BlockDeviceMappings: [
            {
              DeviceName: Images[0]!.RootDeviceName,
              Ebs: {
                VolumeSize: typeof root.volume_size === "number" ? root.volume_size : undefined,
                VolumeType: optionalText(root.volume_type) as VolumeType | undefined,
                Encrypted: root.encrypted === true ? true : undefined,
              },
            },
          ],
          ...(address === undefined
            ? { SubnetId: text(wanted.subnet_id), ...(groups.length > 0 && { SecurityGroupIds: groups }) }
            : {
                NetworkInterfaces: [
                  {
                    DeviceIndex: 0,
                    SubnetId: text(wanted.subnet_id),
                    AssociatePublicIpAddress: address,
                    ...(groups.length > 0 && { Groups: groups }),
                  },
                ],
              }),
          ...tagged("instance", wanted.tags),
        }),
      );
      const id = Instances![0]!.InstanceId!;
      await inState(id, "running");
      if (wanted.source_dest_check === false) {
        await ec2.send(new ModifyInstanceAttributeCommand({ InstanceId: id, SourceDestCheck: { Value: false } }));
      }
      const made = (await read({ ...wanted, id }))!;
      const [disk] = made.root_block_device as readonly Fields[];
      const tags = tagList(root.tags);
      if (tags.length > 0) await ec2.send(new CreateTagsCommand({ Resources: [text(disk!.volume_id)], Tags: tags }));
      return (await read({ ...wanted, id }))!;
    },
    async update(before, wanted) {
      const id = text(before.id);
      if (before.instance_type !== wanted.instance_type) {
        await ec2.send(new StopInstancesCommand({ InstanceIds: [id] }));
        await inState(id, "stopped");
        await ec2.send(new ModifyInstanceAttributeCommand({ InstanceId: id, InstanceType: { Value: text(wanted.instance_type) } }));
        await ec2.send(new StartInstancesCommand({ InstanceIds: [id] }));
        await inState(id, "running");
      }
      const groups = texts(wanted.vpc_security_group_ids);
      if (texts(before.vpc_security_group_ids).sort().join() !== [...groups].sort().join()) {
        await ec2.send(new ModifyInstanceAttributeCommand({ InstanceId: id, Groups: groups }));
      }
      const [old, now] = [before, wanted].map(({ root_block_device }) => ((root_block_device ?? []) as readonly Fields[])[0] ?? {}) as [
        Fields,
        Fields,
      ];
      await modifyVolume(aws, text(old.volume_id), [old.volume_size, old.volume_type], [now.volume_size, now.volume_type]);
      await retag(aws, text(old.volume_id), old.tags, now.tags);
      await retag(aws, id, before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id }) {
      await ec2.send(new TerminateInstancesCommand({ InstanceIds: [text(id)] }));
      await inState(text(id), "terminated");
    },
  };
}

type SizeAndType = readonly [Fields[string] | undefined, Fields[string] | undefined];

async function modifyVolume(aws: Aws, VolumeId: string, before: SizeAndType, after: SizeAndType): Promise<void> {
  if (before[0] === after[0] && before[1] === after[1]) return;
  await aws.ec2.send(new ModifyVolumeCommand({ VolumeId, Size: Number(after[0]), VolumeType: text(after[1]) as VolumeType }));
  await waitFor(aws, `the change of ${VolumeId}`, async () => {
    const { Volumes = [] } = await aws.ec2.send(new DescribeVolumesCommand({ VolumeIds: [VolumeId] }));
    return Volumes[0]?.Size === after[0] && Volumes[0]?.VolumeType === after[1] ? true : undefined;
  });
}

function volume(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const find = async (id: string) => (await unlessMissing(ec2.send(new DescribeVolumesCommand({ VolumeIds: [id] }))))?.Volumes?.[0];
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const found = await find(text(state.id));
    if (found === undefined) return undefined;
    return {
      id: found.VolumeId!,
      availability_zone: found.AvailabilityZone!,
      encrypted: found.Encrypted ?? false,
      iops: found.Iops ?? null,
      size: found.Size!,
      throughput: found.Throughput ?? null,
      type: found.VolumeType!,
      ...tagsIn(state, found.Tags),
    };
  };
  return {
    fixed: ["availability_zone", "encrypted"],
    read,
    async create(wanted) {
      const { VolumeId } = await ec2.send(
        new CreateVolumeCommand({
          AvailabilityZone: text(wanted.availability_zone),
          Size: Number(wanted.size),
          VolumeType: text(wanted.type) as VolumeType,
          Encrypted: wanted.encrypted === true ? true : undefined,
          ...tagged("volume", wanted.tags),
        }),
      );
      await waitFor(aws, `${VolumeId} to be available`, async () => ((await find(VolumeId!))?.State === "available" ? true : undefined));
      return (await read({ ...wanted, id: VolumeId! }))!;
    },
    async update(before, wanted) {
      await modifyVolume(aws, text(before.id), [before.size, before.type], [wanted.size, wanted.type]);
      await retag(aws, text(before.id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id }) {
      await persist(aws, `the end of ${text(id)}`, ["VolumeInUse"], () => ec2.send(new DeleteVolumeCommand({ VolumeId: text(id) })));
      await waitFor(aws, `the end of ${text(id)}`, async () => ((await find(text(id))) === undefined ? true : undefined));
    },
  };
}

function attachment(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const find = async (state: Fields) => {
    const found = await unlessMissing(ec2.send(new DescribeVolumesCommand({ VolumeIds: [text(state.volume_id)] })));
    return found?.Volumes?.[0]?.Attachments?.find(
      ({ InstanceId, Device }) => InstanceId === state.instance_id && Device === state.device_name,
    );
  };
  return {
    fixed: ["device_name", "volume_id", "instance_id"],
    async read(state) {
      const found = await find(state);
      return found === undefined || found.State === "detached" ? undefined : {};
    },
    async create(wanted) {
      const place = { VolumeId: text(wanted.volume_id), InstanceId: text(wanted.instance_id), Device: text(wanted.device_name) };
      await ec2.send(new AttachVolumeCommand(place));
      await waitFor(aws, `${place.VolumeId} to be attached`, async () => ((await find(wanted))?.State === "attached" ? true : undefined));
      return { id: `vai-${place.VolumeId}-${place.InstanceId}` };
    },
    update: async () => ({}),
    async delete(state) {
      if (state.skip_destroy === true) return;
      await ec2.send(new DetachVolumeCommand({ VolumeId: text(state.volume_id), InstanceId: text(state.instance_id) }));
    },
  };
}
