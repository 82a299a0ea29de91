/** Peering connections and their acceptance. */
import {
  AcceptVpcPeeringConnectionCommand,
  CreateVpcPeeringConnectionCommand,
  DeleteVpcPeeringConnectionCommand,
  DescribeVpcPeeringConnectionsCommand,
} from "@aws-sdk/client-ec2";
import type { Fields } from "../plan.ts";
import type { ResourceType } from "../plugin.ts";
import { type Aws, optionalText, retag, tagged, tagsIn, text, unlessMissing, waitFor } from "./account.ts";

export function peeringTypes(aws: Aws): Readonly<Record<string, ResourceType>> {
  const { ec2 } = aws;
  const find = async (id: string) => {
    const asked = ec2.send(new DescribeVpcPeeringConnectionsCommand({ VpcPeeringConnectionIds: [id] }));
    return (await unlessMissing(asked))?.VpcPeeringConnections?.[0];
  };
  const inState = (id: string, state: string) =>
    waitFor(aws, `${id} to be ${state}`, async () => ((await find(id))?.Status?.Code === state ? true : undefined));
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const found = await find(text(state.id));
    if (found === undefined || found.Status?.Code === "deleted") return undefined;
    return { accept_status: found.Status!.Code!, ...tagsIn(state, found.Tags) };
  };
  const update = async (before: Fields, wanted: Fields): Promise<Fields> => {
    await retag(aws, text(before.id), before.tags, wanted.tags);
    return (await read(wanted))!;
  };
  return {
    aws_vpc_peering_connection: {
      fixed: ["vpc_id", "peer_vpc_id", "peer_owner_id", "peer_region"],
      read,
      update,
      async create(wanted) {
        const { VpcPeeringConnection } = await ec2.send(
          new CreateVpcPeeringConnectionCommand({
            VpcId: text(wanted.vpc_id),
            PeerVpcId: text(wanted.peer_vpc_id),
            PeerOwnerId: optionalText(wanted.peer_owner_id),
            PeerRegion: optionalText(wanted.peer_region),
            ...tagged("vpc-peering-connection", wanted.tags),
          }),
        );
        const id = VpcPeeringConnection!.VpcPeeringConnectionId!;
        await inState(id, "pending-acceptance");
        return { id, ...(await read({ ...wanted, id }))! };
      },
      async delete({ id }) {
        await ec2.send(new DeleteVpcPeeringConnectionCommand({ VpcPeeringConnectionId: text(id) }));
      },
    },
    aws_vpc_peering_connection_accepter: {
      fixed: ["vpc_peering_connection_id"],
      read,
      update,
      async create(wanted) {
        const id = text(wanted.vpc_peering_connection_id);
        await ec2.send(new AcceptVpcPeeringConnectionCommand({ VpcPeeringConnectionId: id }));
        await inState(id, "active");
        const seen = (await read({ ...wanted, id }))!;
        await retag(aws, id, seen.tags, wanted.tags);
        return { id, ...(await read({ ...wanted, id }))! };
      },
      // The connection itself ends what was accepted.
      async delete() {},
    },
  };
}
