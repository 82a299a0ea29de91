/** Lists of revoked client certificates that a trust store holds. */
import {
  AddTrustStoreRevocations$,
  type AddTrustStoreRevocationsInput,
  type AddTrustStoreRevocationsOutput,
  type DescribeTrustStoreRevocation,
  DescribeTrustStoreRevocations$,
  type DescribeTrustStoreRevocationsInput,
  type DescribeTrustStoreRevocationsOutput,
  RemoveTrustStoreRevocations$,
  type RemoveTrustStoreRevocationsInput,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { markerPage } from "../balancing/pages.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type Elbv2, type Revocation, type TrustStore, trustStoreAt } from "./state.ts";

/** The operations on revocations. The lists lie in S3, which the cloud has none of: each counts for one certificate. */
export function revocationOperations(elbv2: Elbv2): Operations {
  return [
    write<AddTrustStoreRevocationsInput, AddTrustStoreRevocationsOutput>(
      AddTrustStoreRevocations$,
      (input) => {
        const store = trustStoreAt(elbv2, input.TrustStoreArn);
        const contents = input.RevocationContents ?? [];
        if (contents.some(({ S3Bucket, S3Key }) => !S3Bucket || !S3Key)) {
          throw new ServiceError("ValidationError", "A bucket and a key must be specified for each revocation");
        }
        const last = store.revocations.at(-1)?.id ?? 0;
        const added = contents.map(({ S3Bucket = "", S3Key = "" }, index) => ({ id: last + index + 1, bucket: S3Bucket, key: S3Key }));
        elbv2.trustStores.update(store.arn, { revocations: [...store.revocations, ...added] });
        return { TrustStoreRevocations: added.map((revocation) => describe(store, revocation)) };
      },
      () => ["s3:GetObject"],
    ),
    read<DescribeTrustStoreRevocationsInput, DescribeTrustStoreRevocationsOutput>(DescribeTrustStoreRevocations$, (input) => {
      const store = trustStoreAt(elbv2, input.TrustStoreArn);
      const asked = input.RevocationIds?.length ? input.RevocationIds.map((id) => revocationOf(store, id)) : store.revocations;
      const { items, NextMarker } = markerPage(elbv2.account, asked, ({ id }) => String(id).padStart(8, "0"), input);
      return { TrustStoreRevocations: items.map((revocation) => describe(store, revocation)), NextMarker };
    }),
    write<RemoveTrustStoreRevocationsInput, object>(RemoveTrustStoreRevocations$, (input) => {
      const store = trustStoreAt(elbv2, input.TrustStoreArn);
      const leaving = (input.RevocationIds ?? []).map((id) => revocationOf(store, id));
      elbv2.trustStores.update(store.arn, { revocations: store.revocations.filter((each) => !leaving.includes(each)) });
      return {};
    }),
  ];
}

function revocationOf({ arn, revocations }: TrustStore, id: number): Revocation {
  const found = revocations.find((each) => each.id === id);
  if (found === undefined) throw new ServiceError("RevocationIdNotFound", `Revocation '${id}' of trust store '${arn}' not found`);
  return found;
}

function describe({ arn }: TrustStore, { id }: Revocation): DescribeTrustStoreRevocation {
  return { TrustStoreArn: arn, RevocationId: id, RevocationType: "CRL", NumberOfRevokedEntries: 1 };
}
