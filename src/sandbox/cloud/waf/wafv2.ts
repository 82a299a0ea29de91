/** AWS WAF, as far as load balancers are associated with its web access control lists. */
import {
  AssociateWebACL$,
  type AssociateWebACLRequest,
  CreateWebACL$,
  type CreateWebACLRequest,
  type CreateWebACLResponse,
  DeleteWebACL$,
  type DeleteWebACLRequest,
  DisassociateWebACL$,
  type DisassociateWebACLRequest,
  GetWebACLForResource$,
  type GetWebACLForResourceRequest,
  type GetWebACLForResourceResponse,
  ListResourcesForWebACL$,
  type ListResourcesForWebACLRequest,
  type ListResourcesForWebACLResponse,
  ListWebACLs$,
  type ListWebACLsRequest,
  type ListWebACLsResponse,
  type WebACLSummary,
} from "@aws-sdk/client-wafv2";
import { type Account, arn } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { json } from "../protocol/protocol.ts";
import { read, type Service, write } from "../service.ts";
import type { Table } from "../store.ts";
import { tokenPage } from "../token-pages.ts";
import { associationsOf, checkedResource, needsSetWebAcl } from "./associations.ts";

const MAX_PAGE = 100;

interface WebAcl {
  readonly arn: string;
  readonly id: string;
  readonly name: string;
  readonly lockToken: string;
  readonly input: Pick<CreateWebACLRequest, "DefaultAction" | "VisibilityConfig" | "Description" | "Rules">;
}

/** The service. */
export function wafv2Service(account: Account): Service {
  const acls: Table<WebAcl> = account.store.table("wafv2/web-acls");
  const associations = associationsOf(account, "wafv2");
  const aclAt = (aclArn: string | undefined): WebAcl => {
    const found = acls.get(aclArn ?? "");
    if (found === undefined) throw missing();
    return found;
  };
  return {
    name: "wafv2",
    signingName: "wafv2",
    address: { target: "AWSWAF_20190729" },
    region: "own",
    protocol: json("1.1"),
    operations: [
      write<CreateWebACLRequest, CreateWebACLResponse>(CreateWebACL$, (input) => ({ Summary: summary(create(account, acls, input)) })),
      write<DeleteWebACLRequest, object>(DeleteWebACL$, (input) => {
        const acl = acls.values().find(({ id, name }) => id === input.Id && name === input.Name);
        if (acl === undefined) throw missing();
        if (acl.lockToken !== input.LockToken) {
          throw new ServiceError("WAFOptimisticLockException", "AWS WAF couldn’t save your changes because someone changed the resource.");
        }
        if (associations.values().some((association) => association.acl === acl.arn)) {
          throw new ServiceError(
            "WAFAssociatedItemException",
            "AWS WAF couldn’t perform the operation because your resource is being used.",
          );
        }
        acls.delete(acl.arn);
        return {};
      }),
      read<ListWebACLsRequest, ListWebACLsResponse>(ListWebACLs$, (input) => {
        // Lists for CloudFront are kept in another region's service.
        const chosen = input.Scope === "REGIONAL" ? acls.values() : [];
        const refuse = (message: string) => new ServiceError("WAFInvalidParameterException", message);
        const page = tokenPage(account, chosen, (acl) => acl.arn, {
          token: input.NextMarker,
          size: input.Limit,
          maxSize: MAX_PAGE,
          refuse,
        });
        return { WebACLs: page.items.map(summary), NextMarker: page.next };
      }),
      read<GetWebACLForResourceRequest, GetWebACLForResourceResponse>(GetWebACLForResource$, (input) => {
        const association = associations.get(checkedResource(account, input.ResourceArn));
        if (association === undefined) return {};
        const { id, name, arn: ARN, input: settings } = aclAt(association.acl);
        return { WebACL: { ...settings, Id: id, Name: name, ARN, Capacity: 0, LabelNamespace: `awswaf:${account.id}:webacl:${name}:` } };
      }),
      write<AssociateWebACLRequest, object>(
        AssociateWebACL$,
        (input) => {
          const resourceArn = checkedResource(account, input.ResourceArn);
          associations.put(resourceArn, { resourceArn, acl: aclAt(input.WebACLArn).arn });
          return {};
        },
        needsSetWebAcl,
      ),
      write<DisassociateWebACLRequest, object>(
        DisassociateWebACL$,
        (input) => {
          const resourceArn = checkedResource(account, input.ResourceArn);
          if (associations.has(resourceArn)) associations.delete(resourceArn);
          return {};
        },
        needsSetWebAcl,
      ),
      read<ListResourcesForWebACLRequest, ListResourcesForWebACLResponse>(ListResourcesForWebACL$, (input) => {
        const acl = aclAt(input.WebACLArn);
        const guarded = associations.values().filter((association) => association.acl === acl.arn);
        const listed = (input.ResourceType ?? "APPLICATION_LOAD_BALANCER") === "APPLICATION_LOAD_BALANCER" ? guarded : [];
        return { ResourceArns: listed.map(({ resourceArn }) => resourceArn) };
      }),
    ],
  };
}

function create(account: Account, acls: Table<WebAcl>, input: CreateWebACLRequest): WebAcl {
  const { Name: name = "", Scope: scope, DefaultAction, VisibilityConfig, Description, Rules } = input;
  if (scope !== "REGIONAL" || !/^[\w-]{1,128}$/.test(name)) {
    throw new ServiceError("WAFInvalidParameterException", `Error reason: The scope or name is not valid, parameter: ${scope} ${name}`);
  }
  if (acls.values().some((acl) => acl.name === name)) {
    throw new ServiceError(
      "WAFDuplicateItemException",
      "AWS WAF couldn’t perform the operation because some resource in your request is a duplicate of an existing one.",
    );
  }
  const id = account.ids.uuid();
  const aclArn = arn(account, "wafv2", `regional/webacl/${name}/${id}`);
  const settings = { DefaultAction, VisibilityConfig, Description, Rules };
  return acls.put(aclArn, { arn: aclArn, id, name, lockToken: account.ids.uuid(), input: settings });
}

function summary({ arn: ARN, id, name, lockToken, input }: WebAcl): WebACLSummary {
  return { ARN, Id: id, Name: name, LockToken: lockToken, Description: input.Description ?? "" };
}

function missing(): ServiceError {
  return new ServiceError("WAFNonexistentItemException", "AWS WAF couldn’t perform the operation because your resource doesn’t exist.");
}
