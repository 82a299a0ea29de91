/** The registries, as far as it takes to log in: Amazon ECR in every region, ECR Public in its only one. */
import {
  BatchGetImage$,
  type BatchGetImageRequest,
  GetAuthorizationToken$,
  type GetAuthorizationTokenRequest,
  type GetAuthorizationTokenResponse,
  GetDownloadUrlForLayer$,
  type GetDownloadUrlForLayerRequest,
} from "@aws-sdk/client-ecr";
import {
  GetAuthorizationToken$ as GetPublicToken$,
  type GetAuthorizationTokenRequest as GetPublicTokenRequest,
  type GetAuthorizationTokenResponse as GetPublicTokenResponse,
} from "@aws-sdk/client-ecr-public";
import { partitionOf } from "../../../aws/partitions.ts";
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { json } from "../protocol/protocol.ts";
import { type Call, read, type Service } from "../service.ts";

const TOKEN_HOURS = 12;

/** Amazon ECR: one call gives a token for every registry the caller may read. */
export function ecrService(account: Account): Service {
  return {
    name: "ecr",
    signingName: "ecr",
    address: { target: "AmazonEC2ContainerRegistry_V20150921" },
    region: "any",
    protocol: json("1.1"),
    operations: [
      read<GetAuthorizationTokenRequest, GetAuthorizationTokenResponse>(GetAuthorizationToken$, (input, call) => ({
        authorizationData: (input.registryIds?.length ? input.registryIds : [call.principal.account]).map((registry) => {
          if (!/^\d{12}$/.test(registry)) {
            throw new ServiceError(
              "InvalidParameterException",
              `Invalid parameter at 'registryIds' failed to satisfy constraint: '${registry}' is not a registry id`,
            );
          }
          return { ...token(account), proxyEndpoint: `https://${registry}.dkr.ecr.${call.region}.${partitionOf(call.region).dnsSuffix}` };
        }),
      })),
      // The account has no repositories: whoever may pull learns that, and nothing else.
      read<BatchGetImageRequest, never>(BatchGetImage$, noRepository),
      read<GetDownloadUrlForLayerRequest, never>(GetDownloadUrlForLayer$, noRepository),
    ],
  };
}

/** Amazon ECR Public. */
export function ecrPublicService(account: Account): Service {
  return {
    name: "ecr-public",
    signingName: "ecr-public",
    address: { target: "SpencerFrontendService" },
    region: { only: "us-east-1" },
    protocol: json("1.1"),
    operations: [
      read<GetPublicTokenRequest, GetPublicTokenResponse>(
        GetPublicToken$,
        () => ({ authorizationData: token(account) }),
        () => ["sts:GetServiceBearerToken"],
      ),
    ],
  };
}

function noRepository({ repositoryName }: { readonly repositoryName: string | undefined }, { principal }: Call): never {
  throw new ServiceError(
    "RepositoryNotFoundException",
    `The repository with name '${repositoryName}' does not exist in the registry with id '${principal.account}'`,
  );
}

/** User `AWS` and an opaque password, good for twelve hours of the cloud's clock. */
function token(account: Account): { readonly authorizationToken: string; readonly expiresAt: Date } {
  const expires = account.time.now() + TOKEN_HOURS * 3_600_000;
  const payload = Buffer.from(account.ids.random.bytes(384)).toString("base64");
  const password = { payload, datakey: account.ids.hex(64), version: "2", type: "DATA_KEY", expiration: Math.floor(expires / 1000) };
  const secret = Buffer.from(JSON.stringify(password)).toString("base64");
  return { authorizationToken: Buffer.from(`AWS:${secret}`).toString("base64"), expiresAt: new Date(expires) };
}
