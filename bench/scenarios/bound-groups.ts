/** What measurements of the load balancer controller begin with: a bed for it, and target groups of a user's own with their bindings. */
import { CreateTargetGroupCommand, ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type TargetGroupBinding, targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { installDefinitions } from "../../test/bed/definitions.ts";
import { Bed } from "../bed/bed.ts";
import { region } from "../bed/cloud.ts";
import type { Entrant } from "../bed/entrants.ts";
import { asLoadBalancerController, startLoadBalancerController } from "../bed/load-balancer-controller.ts";
import { inParallel } from "../bed/parallel.ts";
import { usualCloud } from "./scenario.ts";

const namespace = "default";

/** A cluster with the definitions of the controller. */
export async function balancerBed(entrant: Entrant): Promise<Bed> {
  const bed = await Bed.make(await asLoadBalancerController(entrant), usualCloud, startLoadBalancerController);
  await installDefinitions(bed.cluster.admin);
  return bed;
}

/** Target groups of a user's own, all of one type: their ARNs. */
export async function makeGroups({ cloud }: Bed, TargetType: "ip" | "instance", count: number): Promise<readonly string[]> {
  const credentials = { accessKeyId: "AKIABENCH", secretAccessKey: "of-no-worth" };
  const client = new ElasticLoadBalancingV2Client({ region, endpoint: cloud.url, credentials });
  const VpcId = cloud.network.vpcId;
  const made: string[] = [];
  await inParallel(
    Array.from({ length: count }, (_, i) => i),
    async (i) => {
      const wish = { Name: `group-${i}`, Protocol: "TCP", Port: 80, VpcId, TargetType } as const;
      const { TargetGroups } = await client.send(new CreateTargetGroupCommand(wish));
      made.push(TargetGroups?.[0]?.TargetGroupArn ?? "");
    },
  );
  return made;
}

/** Binds each to port 80 of a Service. All that the webhook of the reference would fill in is said. */
export function bindGroups(
  { cluster, cloud }: Bed,
  arns: readonly string[],
  targetType: "ip" | "instance",
  service: string,
): Promise<void> {
  return inParallel(arns, (targetGroupARN) =>
    cluster.admin.create(targetGroupBindings, {
      metadata: { name: targetGroupARN.split("/").at(-2)!, namespace },
      spec: {
        targetGroupARN,
        targetType,
        ipAddressType: "ipv4",
        vpcID: cloud.network.vpcId,
        targetGroupProtocol: "TCP",
        serviceRef: { name: service, port: 80 },
      },
    } as TargetGroupBinding),
  );
}

/** How many bindings are brought about. */
export async function filledBindings({ cluster }: Bed): Promise<number> {
  const { items } = await cluster.admin.list(targetGroupBindings, { namespace });
  return items.filter(({ metadata, status }) => status?.observedGeneration === metadata.generation).length;
}
