/** Security groups and their rules, as much of them as anybody here reads. */
import type { Clock } from "../runtime/world.ts";
import { type Ask, joinedCause } from "./ask.ts";
import type { Caller } from "./caller.ts";
import { Coalescer } from "./coalescer.ts";
import { describeSecurityGroupRules, describeSecurityGroups } from "./ec2-actions.ts";
import type { Tags } from "./instance.ts";
import type { Filter } from "./instances.ts";
import { type Page, scanPages } from "./pages.ts";
import { fields, list, type Shape, text } from "./scan.ts";

/** A group without its rules; what they mention tells in which groups a load balancer is known. */
export interface SecurityGroup {
  readonly id: string;
  readonly name: string;
  readonly vpc: string;
  readonly tags: Tags;
  /** Groups that ingress rules name as their source. */
  readonly sources: readonly string[];
  /** Descriptions that ingress rules carry. */
  readonly descriptions: readonly string[];
}

/** One ingress rule, with the id by which alone it is revoked. */
export interface SecurityGroupRule {
  readonly id: string;
  readonly group: string;
  /** `tcp`, `udp`, `icmp`, `icmpv6`, `-1`, or a protocol number. */
  readonly protocol: string;
  /** For ICMP the type and the code; absent when the rule speaks of all. */
  readonly fromPort?: number;
  readonly toPort?: number;
  /** An IPv4 or IPv6 block. */
  readonly cidr?: string;
  readonly prefixList?: string;
  readonly sourceGroup?: string;
  readonly description?: string;
}

/** AWS's limit of values in one filter. */
const valuesPerFilter = 200;

interface Wanted {
  readonly group: string;
  readonly cause: string;
}

export class SecurityGroups {
  readonly #caller: Caller;
  readonly #rules: Coalescer<Wanted, readonly SecurityGroupRule[]>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#rules = new Coalescer<Wanted, readonly SecurityGroupRule[]>({
      clock,
      most: valuesPerFilter,
      keyOf: ({ group }) => group,
      fetch: async (items, options) => {
        const input = { MaxResults: 1000, Filters: [{ Name: "group-id", Values: items.map(({ group }) => group) }] };
        const found = await scanPages(caller, describeSecurityGroupRules, input, rulesPage, { ...options, cause: joinedCause(items) });
        return Map.groupBy(
          found.flatMap((rule) => rule ?? []),
          ({ group }) => group,
        );
      },
    });
  }

  /** Every group that matches the filters. */
  list(filters: readonly Filter[], ask: Ask): Promise<readonly SecurityGroup[]> {
    const input = { MaxResults: 1000, Filters: filters.map(({ name, values }) => ({ Name: name, Values: [...values] })) };
    return scanPages(this.#caller, describeSecurityGroups, input, groupsPage, ask);
  }

  /** The ingress rules of a group as they are now; those of others asked for in the same moment come in the same call. */
  async rules(group: string, ask: Ask): Promise<readonly SecurityGroupRule[]> {
    return (await this.#rules.get({ group, cause: ask.cause }, ask.urgency ?? "background", ask.signal)) ?? [];
  }
}

const tag = fields({ key: text, value: text }, ({ key = "", value = "" }) => [key, value] as const);
const described = fields({ description: text }, ({ description }) => description);
const pair = fields({ groupId: text, description: text });

const permission = fields({ ipRanges: list(described), ipv6Ranges: list(described), prefixListIds: list(described), groups: list(pair) });

const groupsPage: Shape<Page<SecurityGroup>> = fields(
  {
    securityGroupInfo: list(
      fields(
        { groupId: text, groupName: text, vpcId: text, tagSet: list(tag), ipPermissions: list(permission) },
        ({ groupId = "", groupName = "", vpcId = "", tagSet = [], ipPermissions = [] }): SecurityGroup => {
          const pairs = ipPermissions.flatMap(({ groups = [] }) => groups);
          const texts = ipPermissions.flatMap(({ ipRanges = [], ipv6Ranges = [] }) => [...ipRanges, ...ipv6Ranges]);
          return {
            id: groupId,
            name: groupName,
            vpc: vpcId,
            tags: Object.fromEntries(tagSet),
            sources: distinct(pairs.map((each) => each.groupId)),
            descriptions: distinct([...texts, ...pairs.map((each) => each.description)]),
          };
        },
      ),
    ),
    nextToken: text,
  },
  (found) => ({ items: found.securityGroupInfo ?? [], nextToken: found.nextToken || undefined }),
);

const rulesPage: Shape<Page<SecurityGroupRule | undefined>> = fields(
  {
    securityGroupRuleSet: list(
      fields(
        {
          securityGroupRuleId: text,
          groupId: text,
          isEgress: text,
          ipProtocol: text,
          fromPort: text,
          toPort: text,
          cidrIpv4: text,
          cidrIpv6: text,
          prefixListId: text,
          referencedGroupInfo: fields({ groupId: text }),
          description: text,
        },
        (found): SecurityGroupRule | undefined => {
          if (found.isEgress === "true") return undefined;
          const all = found.ipProtocol === "-1";
          return {
            id: found.securityGroupRuleId ?? "",
            group: found.groupId ?? "",
            protocol: found.ipProtocol ?? "",
            ...(!all && { fromPort: Number(found.fromPort), toPort: Number(found.toPort) }),
            cidr: found.cidrIpv4 || found.cidrIpv6 || undefined,
            ...(found.prefixListId && { prefixList: found.prefixListId }),
            sourceGroup: found.referencedGroupInfo?.groupId,
            description: found.description || undefined,
          };
        },
      ),
    ),
    nextToken: text,
  },
  (found) => ({ items: found.securityGroupRuleSet ?? [], nextToken: found.nextToken || undefined }),
);

function distinct(values: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(values.filter((value): value is string => value !== undefined && value !== ""))];
}
