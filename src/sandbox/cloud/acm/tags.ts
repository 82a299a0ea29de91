/** Tags of certificates, with this service's limits and words. */
import {
  AddTagsToCertificate$,
  type AddTagsToCertificateRequest,
  ListTagsForCertificate$,
  type ListTagsForCertificateRequest,
  type ListTagsForCertificateResponse,
  RemoveTagsFromCertificate$,
  type RemoveTagsFromCertificateRequest,
  type Tag,
} from "@aws-sdk/client-acm";
import type { Account } from "../account.ts";
import { type Tags, tagList } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { certificateAt, certificatesOf } from "./state.ts";

const MAX_TAGS = 50;

/** The operations on tags. */
export function tagOperations(account: Account): Operations {
  return [
    write<AddTagsToCertificateRequest, object>(AddTagsToCertificate$, (input) => {
      const { arn, tags } = certificateAt(account, input.CertificateArn);
      certificatesOf(account).update(arn, { tags: withTags(tags, input.Tags) });
      return {};
    }),
    write<RemoveTagsFromCertificateRequest, object>(RemoveTagsFromCertificate$, (input) => {
      const { arn, tags } = certificateAt(account, input.CertificateArn);
      // A value that is given must be the tag's own.
      const leaves = (key: string, value: string) => input.Tags?.some((tag) => tag.Key === key && (tag.Value ?? value) === value);
      const kept = Object.entries(tags).filter(([key, value]) => !leaves(key, value));
      certificatesOf(account).update(arn, { tags: Object.fromEntries(kept) });
      return {};
    }),
    read<ListTagsForCertificateRequest, ListTagsForCertificateResponse>(ListTagsForCertificate$, (input) => ({
      Tags: tagList(certificateAt(account, input.CertificateArn).tags),
    })),
  ];
}

/** The tags with more of them. */
export function withTags(tags: Tags, added: readonly Tag[] | undefined): Tags {
  const merged: Record<string, string> = { ...tags };
  for (const { Key: key = "", Value: value = "" } of added ?? []) {
    if (key === "" || key.length > 128 || value.length > 256 || key.toLowerCase().startsWith("aws:")) {
      throw new ServiceError("InvalidTagException", `The tag '${key}' is not valid`);
    }
    merged[key] = value;
  }
  if (Object.keys(merged).length > MAX_TAGS) {
    throw new ServiceError("TooManyTagsException", `A certificate can have at most ${MAX_TAGS} tags`);
  }
  return merged;
}
