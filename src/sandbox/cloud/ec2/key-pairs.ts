/** Key pairs: public keys that launches name. Only imported ones; nobody here keeps private keys. */
import { createHash, createPublicKey } from "node:crypto";
import {
  DeleteKeyPair$,
  type DeleteKeyPairRequest,
  type DeleteKeyPairResult,
  DescribeKeyPairs$,
  type DescribeKeyPairsRequest,
  type DescribeKeyPairsResult,
  ImportKeyPair$,
  type ImportKeyPairRequest,
  type ImportKeyPairResult,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import type { Table } from "../store.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { KINDS } from "./kinds.ts";
import type { Ec2, Tags } from "./state.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";

export interface KeyPair {
  readonly id: string;
  readonly name: string;
  readonly type: "rsa" | "ed25519";
  readonly fingerprint: string;
  readonly publicKey: string;
  readonly created: number;
  readonly tags: Tags;
}

/** The account's key pairs by id. */
export function keyPairs(ec2: Ec2): Table<KeyPair> {
  return ec2.account.store.table("ec2/key-pairs");
}

/** Refuses the name of a key pair that does not exist, as a launch does. */
export function checkKeyName(ec2: Ec2, name: string | undefined): void {
  if (name !== undefined && named(ec2, name) === undefined) throw missing(name);
}

/** The operations on key pairs. */
export function keyPairOperations(ec2: Ec2): Operations {
  return [
    write<ImportKeyPairRequest, ImportKeyPairResult>(
      ImportKeyPair$,
      (input) => {
        const { id, name, fingerprint, tags } = importKeyPair(ec2, input);
        return { KeyPairId: id, KeyName: name, KeyFingerprint: fingerprint, Tags: tagList(tags) };
      },
      needsCreateTags,
    ),
    write<DeleteKeyPairRequest, DeleteKeyPairResult>(DeleteKeyPair$, (input) => {
      if (input.KeyName === undefined && input.KeyPairId === undefined) {
        throw new ServiceError("MissingParameter", "The request must contain the parameter KeyName or KeyPairId");
      }
      const pair = input.KeyPairId === undefined ? named(ec2, input.KeyName!) : keyPairs(ec2).get(input.KeyPairId);
      // What is not there is deleted already.
      if (pair !== undefined) keyPairs(ec2).delete(pair.id);
      return { Return: true, ...(pair !== undefined && { KeyPairId: pair.id }) };
    }),
    read<DescribeKeyPairsRequest, DescribeKeyPairsResult>(DescribeKeyPairs$, (input) => {
      for (const name of input.KeyNames ?? []) checkKeyName(ec2, name);
      for (const id of input.KeyPairIds ?? []) if (!keyPairs(ec2).has(id)) throw missing(id);
      const asked = keyPairs(ec2)
        .values()
        .filter(({ name, id }) => !input.KeyNames?.length || input.KeyNames.includes(name) || input.KeyPairIds?.includes(id))
        .filter(({ name, id }) => !input.KeyPairIds?.length || input.KeyPairIds.includes(id) || input.KeyNames?.includes(name));
      return {
        KeyPairs: filtered(asked, input.Filters, FILTERS).map((pair) => ({
          KeyPairId: pair.id,
          KeyName: pair.name,
          KeyType: pair.type,
          KeyFingerprint: pair.fingerprint,
          CreateTime: new Date(pair.created),
          Tags: tagList(pair.tags),
          ...(input.IncludePublicKey && { PublicKey: pair.publicKey }),
        })),
      };
    }),
  ];
}

const FILTERS: FilterTable<KeyPair> = {
  ...tagFilters<KeyPair>(),
  fingerprint: (pair) => pair.fingerprint,
  "key-name": (pair) => pair.name,
  "key-pair-id": (pair) => pair.id,
};

function importKeyPair(ec2: Ec2, input: ImportKeyPairRequest): KeyPair {
  const tags = specifiedTags(input.TagSpecifications, KINDS.keyPair);
  const name = input.KeyName!;
  if (name.length > 255) throw new ServiceError("InvalidParameterValue", "The key name must have at most 255 characters.");
  if (named(ec2, name) !== undefined) throw new ServiceError("InvalidKeyPair.Duplicate", `The keypair already exists`);
  const publicKey = Buffer.from(input.PublicKeyMaterial!).toString("utf8").trim();
  const id = ec2.account.ids.resource("key");
  return keyPairs(ec2).put(id, { id, name, publicKey, ...typeAndFingerprint(publicKey), created: ec2.account.time.now(), tags });
}

/**
 * RSA keys have the MD5 of their DER form, ED25519 keys the SHA-256 that OpenSSH shows:
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/verify-keys.html
 */
function typeAndFingerprint(publicKey: string): Pick<KeyPair, "type" | "fingerprint"> {
  const [kind, base64 = ""] = publicKey.split(/\s+/);
  const blob = Buffer.from(base64, "base64");
  const [name, exponent, modulus] = parts(blob);
  if (name?.toString() === kind) {
    if (kind === "ssh-ed25519") return { type: "ed25519", fingerprint: createHash("sha256").update(blob).digest("base64") };
    if (kind === "ssh-rsa" && exponent !== undefined && modulus !== undefined) {
      const key = { kty: "RSA", e: exponent.toString("base64url"), n: withoutSign(modulus).toString("base64url") };
      const der = createPublicKey({ key, format: "jwk" }).export({ type: "spki", format: "der" });
      return {
        type: "rsa",
        fingerprint: createHash("md5")
          .update(der)
          .digest("hex")
          .replace(/..(?!$)/g, "$&:"),
      };
    }
  }
  throw new ServiceError("InvalidKey.Format", "Key is not in valid OpenSSH public key format");
}

/** A key of OpenSSH is a row of texts, each after its length. */
function parts(blob: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 4 <= blob.length; ) {
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return [];
    found.push(blob.subarray(at + 4, end));
    at = end;
  }
  return found;
}

/** OpenSSH writes a zero before numbers whose first bit is set. */
function withoutSign(number: Buffer): Buffer {
  return number[0] === 0 ? number.subarray(1) : number;
}

function named(ec2: Ec2, name: string): KeyPair | undefined {
  return keyPairs(ec2)
    .values()
    .find((pair) => pair.name === name);
}

function missing(name: string): ServiceError {
  return new ServiceError(KINDS.keyPair.notFound, `The key pair '${name}' does not exist`);
}
