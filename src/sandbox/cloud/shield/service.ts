/** Shield Advanced: a subscription, and protections of single resources. */
import {
  CreateProtection$,
  type CreateProtectionRequest,
  type CreateProtectionResponse,
  CreateSubscription$,
  DeleteProtection$,
  type DeleteProtectionRequest,
  DescribeProtection$,
  type DescribeProtectionRequest,
  type DescribeProtectionResponse,
  GetSubscriptionState$,
  type GetSubscriptionStateResponse,
  ListProtections$,
  type ListProtectionsRequest,
  type ListProtectionsResponse,
  type Protection as ProtectionAnswer,
} from "@aws-sdk/client-shield";
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { json } from "../protocol/protocol.ts";
import { read, type Service, write } from "../service.ts";
import type { Table } from "../store.ts";
import { tokenPage } from "../token-pages.ts";

const MAX_PAGE = 10_000;
const SUBSCRIPTION = "subscription";

interface Protection {
  readonly id: string;
  readonly name: string;
  readonly resourceArn: string;
}

/** The service. It is global: clients that are given an endpoint sign for the region they are in. */
export function shieldService(account: Account): Service {
  const protections: Table<Protection> = account.store.table("shield/protections");
  const subscriptions: Table<{ readonly since: number }> = account.store.table("shield/subscriptions");
  const byResource = (resourceArn: string | undefined) => protections.values().find((each) => each.resourceArn === resourceArn);
  return {
    name: "shield",
    signingName: "shield",
    address: { target: "AWSShield_20160616" },
    region: "any",
    protocol: json("1.1"),
    operations: [
      read<object, GetSubscriptionStateResponse>(GetSubscriptionState$, () => ({
        SubscriptionState: subscriptions.has(SUBSCRIPTION) ? "ACTIVE" : "INACTIVE",
      })),
      write<object, object>(CreateSubscription$, () => {
        if (subscriptions.has(SUBSCRIPTION)) throw new ServiceError("ResourceAlreadyExistsException", "The subscription already exists.");
        subscriptions.put(SUBSCRIPTION, { since: account.time.now() });
        return {};
      }),
      write<CreateProtectionRequest, CreateProtectionResponse>(CreateProtection$, ({ Name: name = "", ResourceArn: resourceArn = "" }) => {
        if (!subscriptions.has(SUBSCRIPTION)) throw new ServiceError("ResourceNotFoundException", "The subscription does not exist.");
        if (name === "" || name.length > 128) throw new ServiceError("InvalidParameterException", `The name '${name}' is not valid.`);
        checkResource(account, resourceArn);
        if (byResource(resourceArn) !== undefined) {
          throw new ServiceError("ResourceAlreadyExistsException", "The referenced protection already exists.");
        }
        const id = account.ids.uuid();
        protections.put(id, { id, name, resourceArn });
        return { ProtectionId: id };
      }),
      write<DeleteProtectionRequest, object>(DeleteProtection$, (input) => {
        const { ProtectionId: id = "" } = input;
        if (!protections.has(id)) throw missing();
        protections.delete(id);
        return {};
      }),
      read<DescribeProtectionRequest, DescribeProtectionResponse>(DescribeProtection$, (input) => {
        const { ProtectionId: id, ResourceArn: resourceArn } = input;
        if ((id === undefined) === (resourceArn === undefined)) {
          throw new ServiceError("InvalidParameterException", "Either a protection ID or a resource ARN must be specified.");
        }
        const found = id === undefined ? byResource(resourceArn) : protections.get(id);
        if (found === undefined) throw missing();
        return { Protection: describe(account, found) };
      }),
      read<ListProtectionsRequest, ListProtectionsResponse>(ListProtections$, (input) => {
        const wanted = input.InclusionFilters?.ResourceArns;
        const chosen = protections.values().filter(({ resourceArn }) => wanted?.includes(resourceArn) ?? true);
        const refuse = (message: string) => new ServiceError("InvalidPaginationTokenException", message);
        const size = { token: input.NextToken, size: input.MaxResults, maxSize: MAX_PAGE, refuse };
        const page = tokenPage(account, chosen, ({ id }) => id, size);
        return { Protections: page.items.map((each) => describe(account, each)), NextToken: page.next };
      }),
    ],
  };
}

/** Of load balancers those that are there; of other kinds of resources the cloud knows nothing. */
function checkResource(account: Account, resourceArn: string): void {
  const name = /^arn:[a-z-]+:elasticloadbalancing:[a-z0-9-]+:\d{12}:loadbalancer\/(.+)$/.exec(resourceArn)?.[1];
  if (name === undefined) throw new ServiceError("InvalidResourceException", `The resource '${resourceArn}' cannot be protected.`);
  const { store } = account;
  if (!store.table("elbv2/load-balancers").has(resourceArn) && !store.table("elb/load-balancers").has(name)) {
    throw new ServiceError("ResourceNotFoundException", "The referenced resource does not exist.");
  }
}

function missing(): ServiceError {
  return new ServiceError("ResourceNotFoundException", "The referenced protection does not exist.");
}

function describe(account: Account, { id, name, resourceArn }: Protection): ProtectionAnswer {
  return { Id: id, Name: name, ResourceArn: resourceArn, ProtectionArn: `arn:${account.partition}:shield::${account.id}:protection/${id}` };
}
