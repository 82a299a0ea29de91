/** WAF Classic in a region, as far as load balancers are associated with its lists. */
import { schemasOf, text, texts } from "../../../aws/sdk/borrowed-client.ts";
import { AssociateWebACL$, DisassociateWebACL$, GetWebACLForResource$, wafRegional } from "../../../aws/sdk/waf-regional-schemas.ts";
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { json } from "../protocol/protocol.ts";
import { read, type Service, write } from "../service.ts";
import type { Table } from "../store.ts";
import { associationsOf, checkedResource, needsSetWebAcl } from "./associations.ts";

const { struct, operation } = schemasOf(wafRegional);
/** Which the product does not call, and people at the command line do. */
const ListResourcesForWebACL$ = operation(
  "ListResourcesForWebACL",
  struct("ListResourcesForWebACLRequest", { WebACLId: text, ResourceType: text }, 1),
  struct("ListResourcesForWebACLResponse", { ResourceArns: texts }),
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
    signingName: wafRegional.signingName,
    address: { target: wafRegional.target },
    region: "own",
    protocol: json("1.1"),
    operations: [
      write<Named, object>(
        AssociateWebACL$,
        (input) => {
          const resourceArn = checkedResource(account, input.ResourceArn);
          associations.put(resourceArn, { resourceArn, acl: aclAt(input.WebACLId).id });
          return {};
        },
        needsSetWebAcl,
      ),
      write<Named, object>(
        DisassociateWebACL$,
        (input) => {
          const resourceArn = checkedResource(account, input.ResourceArn);
          if (associations.has(resourceArn)) associations.delete(resourceArn);
          return {};
        },
        needsSetWebAcl,
      ),
      read<Named, object>(GetWebACLForResource$, (input) => {
        const association = associations.get(checkedResource(account, input.ResourceArn));
        if (association === undefined) return {};
        const { id, name } = aclAt(association.acl);
        return { WebACLSummary: { WebACLId: id, Name: name } };
      }),
      read<Named, object>(ListResourcesForWebACL$, (input) => {
        const { id } = aclAt(input.WebACLId);
        const guarded = associations.values().filter(({ acl }) => acl === id);
        return { ResourceArns: guarded.map(({ resourceArn }) => resourceArn) };
      }),
    ],
  };
}
