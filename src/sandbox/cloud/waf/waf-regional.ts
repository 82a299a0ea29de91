/**
 * WAF Classic in a region, as far as load balancers are associated with its lists. Its SDK client is of the generation before
 * schemas and brings that whole generation along, so the schemas of these few operations are written here.
 */
import type { StaticOperationSchema, StaticStructureSchema } from "@smithy/types";
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { json } from "../protocol/protocol.ts";
import { read, type Service, write } from "../service.ts";
import type { Table } from "../store.ts";
import { associationsOf, checkedResource, needsSetWebAcl } from "./associations.ts";

const NAMESPACE = "com.amazonaws.wafregional";
const TEXT = 0;
const TEXTS = 64;

function struct(name: string, members: Readonly<Record<string, StaticStructureSchema | number>>, required = 0): StaticStructureSchema {
  return [3, NAMESPACE, name, 0, Object.keys(members), Object.values(members), required] as unknown as StaticStructureSchema;
}

function operation(name: string, input: StaticStructureSchema, output: StaticStructureSchema): StaticOperationSchema {
  return [9, NAMESPACE, name, 0, input, output] as unknown as StaticOperationSchema;
}

const summary$ = struct("WebACLSummary", { WebACLId: TEXT, Name: TEXT });
const associate$ = operation(
  "AssociateWebACL",
  struct("AssociateWebACLRequest", { WebACLId: TEXT, ResourceArn: TEXT }, 2),
  struct("AssociateWebACLResponse", {}),
);
const disassociate$ = operation(
  "DisassociateWebACL",
  struct("DisassociateWebACLRequest", { ResourceArn: TEXT }, 1),
  struct("DisassociateWebACLResponse", {}),
);
const getForResource$ = operation(
  "GetWebACLForResource",
  struct("GetWebACLForResourceRequest", { ResourceArn: TEXT }, 1),
  struct("GetWebACLForResourceResponse", { WebACLSummary: summary$ }),
);
const listResources$ = operation(
  "ListResourcesForWebACL",
  struct("ListResourcesForWebACLRequest", { WebACLId: TEXT, ResourceType: TEXT }, 1),
  struct("ListResourcesForWebACLResponse", { ResourceArns: TEXTS }),
);

/** A list of the old service. It cannot be made through the simulated API: put it into the table. */
export interface ClassicWebAcl {
  readonly id: string;
  readonly name: string;
}

/** The lists of the old service, by id. */
export function classicWebAcls(account: Account): Table<ClassicWebAcl> {
  return account.store.table("waf-regional/web-acls");
}

interface Named {
  readonly WebACLId: string;
  readonly ResourceArn: string;
}

/** The service. */
export function wafRegionalService(account: Account): Service {
  const associations = associationsOf(account, "waf-regional");
  const aclAt = (id: string): ClassicWebAcl => {
    const found = classicWebAcls(account).get(id);
    if (found === undefined) throw new ServiceError("WAFNonexistentItemException", "The referenced item does not exist.");
    return found;
  };
  return {
    name: "waf-regional",
    signingName: "waf-regional",
    address: { target: "AWSWAF_Regional_20161128" },
    region: "own",
    protocol: json("1.1"),
    operations: [
      write<Named, object>(
        associate$,
        (input) => {
          const resourceArn = checkedResource(account, input.ResourceArn);
          associations.put(resourceArn, { resourceArn, acl: aclAt(input.WebACLId).id });
          return {};
        },
        needsSetWebAcl,
      ),
      write<Named, object>(
        disassociate$,
        (input) => {
          const resourceArn = checkedResource(account, input.ResourceArn);
          if (associations.has(resourceArn)) associations.delete(resourceArn);
          return {};
        },
        needsSetWebAcl,
      ),
      read<Named, object>(getForResource$, (input) => {
        const association = associations.get(checkedResource(account, input.ResourceArn));
        if (association === undefined) return {};
        const { id, name } = aclAt(association.acl);
        return { WebACLSummary: { WebACLId: id, Name: name } };
      }),
      read<Named, object>(listResources$, (input) => {
        const { id } = aclAt(input.WebACLId);
        const guarded = associations.values().filter(({ acl }) => acl === id);
        return { ResourceArns: guarded.map(({ resourceArn }) => resourceArn) };
      }),
    ],
  };
}
