/** Trust stores: certificate authorities whose client certificates a listener accepts. */
import {
  CreateTrustStore$,
  type CreateTrustStoreInput,
  type CreateTrustStoreOutput,
  DeleteTrustStore$,
  type DeleteTrustStoreInput,
  DescribeTrustStoreAssociations$,
  type DescribeTrustStoreAssociationsInput,
  type DescribeTrustStoreAssociationsOutput,
  DescribeTrustStores$,
  type DescribeTrustStoresInput,
  type DescribeTrustStoresOutput,
  ModifyTrustStore$,
  type ModifyTrustStoreInput,
  type ModifyTrustStoreOutput,
  type TrustStore as TrustStoreAnswer,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { arn } from "../account.ts";
import { markerPage } from "../balancing/pages.ts";
import { needsAddTags, withTags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type Elbv2, type Listener, type TrustStore, trustStoreAt } from "./state.ts";

/** How long AWS reads a bundle of certificates. */
const CREATION_MS = 10_000;

/** The operations on trust stores. Bundles lie in S3, which the cloud has none of: every bundle named is found there. */
export function trustStoreOperations(elbv2: Elbv2): Operations {
  return [
    write<CreateTrustStoreInput, CreateTrustStoreOutput>(
      CreateTrustStore$,
      (input) => ({ TrustStores: [describe(createTrustStore(elbv2, input))] }),
      (input) => [...needsAddTags(input), "s3:GetObject"],
    ),
    write<ModifyTrustStoreInput, ModifyTrustStoreOutput>(ModifyTrustStore$, (input) => ({
      TrustStores: [describe(trustStoreAt(elbv2, input.TrustStoreArn))],
    })),
    write<DeleteTrustStoreInput, object>(DeleteTrustStore$, (input) => {
      const store = trustStoreAt(elbv2, input.TrustStoreArn);
      if (usersOf(elbv2, store.arn).length > 0) {
        throw new ServiceError("TrustStoreInUse", `The trust store '${store.arn}' is currently in use by a listener`);
      }
      elbv2.trustStores.delete(store.arn);
      return {};
    }),
    read<DescribeTrustStoresInput, DescribeTrustStoresOutput>(DescribeTrustStores$, (input) => {
      const { items, NextMarker } = markerPage(elbv2.account, asked(elbv2, input), (store) => store.arn, input);
      return { TrustStores: items.map(describe), NextMarker };
    }),
    read<DescribeTrustStoreAssociationsInput, DescribeTrustStoreAssociationsOutput>(DescribeTrustStoreAssociations$, (input) => {
      const users = usersOf(elbv2, trustStoreAt(elbv2, input.TrustStoreArn).arn);
      const { items, NextMarker } = markerPage(elbv2.account, users, (listener) => listener.arn, input);
      return { TrustStoreAssociations: items.map((listener) => ({ ResourceArn: listener.arn })), NextMarker };
    }),
  ];
}

function asked(elbv2: Elbv2, { TrustStoreArns: arns = [], Names: names = [] }: DescribeTrustStoresInput): readonly TrustStore[] {
  if (arns.length > 0 && names.length > 0) {
    throw new ServiceError("ValidationError", "Trust store names and trust store ARNs cannot be specified at the same time");
  }
  if (arns.length > 0) return [...new Set(arns)].map((one) => trustStoreAt(elbv2, one));
  const all = elbv2.trustStores.values();
  if (names.length === 0) return all;
  return [...new Set(names)].map((name) => {
    const found = all.find((store) => store.name === name);
    if (found === undefined) throw new ServiceError("TrustStoreNotFound", "One or more trust stores not found");
    return found;
  });
}

function createTrustStore(elbv2: Elbv2, input: CreateTrustStoreInput): TrustStore {
  const { account } = elbv2;
  const name = input.Name ?? "";
  if (!/^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?$/.test(name)) {
    throw new ServiceError("ValidationError", `The trust store name '${name}' must have 1 to 32 letters, digits or hyphens`);
  }
  const all = elbv2.trustStores.values();
  if (all.some((store) => store.name === name)) {
    throw new ServiceError("DuplicateTrustStoreName", `A trust store with the same name '${name}' exists`);
  }
  if (all.length >= account.settings().quotas.trustStores) {
    throw new ServiceError("TooManyTrustStores", "The maximum number of trust stores has been reached");
  }
  const storeArn = arn(account, "elasticloadbalancing", `truststore/${name}/${account.ids.hex(16)}`);
  account.time.after(CREATION_MS, () => {
    if (elbv2.trustStores.has(storeArn)) elbv2.trustStores.update(storeArn, { state: "ACTIVE" });
  });
  return elbv2.trustStores.put(storeArn, {
    arn: storeArn,
    name,
    state: "CREATING",
    authorities: 1,
    revocations: [],
    tags: withTags({}, input.Tags),
  });
}

function usersOf(elbv2: Elbv2, storeArn: string): readonly Listener[] {
  return elbv2.listeners.values().filter(({ mutualAuthentication }) => mutualAuthentication?.TrustStoreArn === storeArn);
}

function describe(store: TrustStore): TrustStoreAnswer {
  return {
    Name: store.name,
    TrustStoreArn: store.arn,
    Status: store.state,
    NumberOfCaCertificates: store.authorities,
    TotalRevokedEntries: store.revocations.length,
  };
}
