import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateTagsCommand,
  DeleteKeyPairCommand,
  DescribeInstancesCommand,
  DescribeKeyPairsCommand,
  ImportKeyPairCommand,
  RunInstancesCommand,
} from "@aws-sdk/client-ec2";
import { networkBed, refused } from "../testing.ts";

const ed25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHjE3wGDjGC1Tg0BpLx0Zz5yXK1gUoW3JnqNU8oVb0cK ops";
const rsa =
  "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAYQC7dNKEXOINnjtJw9fHBBTOETMF7R0YZHrqVyqjGzUjNgGOlmRrLZHyJzCLqcnBYzeWmA6hmJbtwGX6xmvtv5QyqTZsKLWPDlFHZgV5UfVFNQ0LD8ImqbLTA7yX1w2Eqd0=";
const material = (text: string) => Buffer.from(text);

test("a public key is imported once under its name, is described and tagged, and is deleted as often as one likes", async () => {
  const { ec2 } = networkBed();
  const { KeyPairId, KeyFingerprint } = await ec2.send(
    new ImportKeyPairCommand({
      KeyName: "demo",
      PublicKeyMaterial: material(ed25519),
      TagSpecifications: [{ ResourceType: "key-pair", Tags: [{ Key: "Cluster", Value: "demo" }] }],
    }),
  );
  assert.match(KeyPairId ?? "", /^key-0[0-9a-f]{16}$/);
  assert.match(KeyFingerprint ?? "", /^[A-Za-z0-9+/]{43}=$/);
  await refused(ec2.send(new ImportKeyPairCommand({ KeyName: "demo", PublicKeyMaterial: material(ed25519) })), "InvalidKeyPair.Duplicate");
  await ec2.send(new CreateTagsCommand({ Resources: [KeyPairId!], Tags: [{ Key: "team", Value: "a" }] }));
  const { KeyPairs } = await ec2.send(new DescribeKeyPairsCommand({ KeyNames: ["demo"], IncludePublicKey: true }));
  assert.deepEqual(
    KeyPairs?.map(({ KeyName, KeyType, PublicKey, Tags }) => [KeyName, KeyType, PublicKey, Tags?.length]),
    [["demo", "ed25519", ed25519, 2]],
  );
  await ec2.send(new DeleteKeyPairCommand({ KeyName: "demo" }));
  await ec2.send(new DeleteKeyPairCommand({ KeyName: "demo" }));
  await refused(ec2.send(new DescribeKeyPairsCommand({ KeyNames: ["demo"] })), "InvalidKeyPair.NotFound");
});

test("an RSA key has the MD5 of its DER form as fingerprint, and what is no key of OpenSSH is refused", async () => {
  const { ec2 } = networkBed();
  const { KeyFingerprint } = await ec2.send(new ImportKeyPairCommand({ KeyName: "old", PublicKeyMaterial: material(rsa) }));
  assert.match(KeyFingerprint ?? "", /^([0-9a-f]{2}:){15}[0-9a-f]{2}$/);
  for (const text of ["", "ssh-ed25519", "ssh-ed25519 AAAA", "---- BEGIN SSH2 PUBLIC KEY ----", `ssh-rsa ${ed25519.split(" ")[1]}`]) {
    await refused(ec2.send(new ImportKeyPairCommand({ KeyName: "bad", PublicKeyMaterial: material(text) })), "InvalidKey.Format");
  }
});

test("a launch names a key pair that exists", async () => {
  const { ec2, network } = networkBed();
  const launch = new RunInstancesCommand({
    ImageId: "ami-0123456789abcdef0",
    MinCount: 1,
    MaxCount: 1,
    KeyName: "demo",
    SubnetId: network.publicSubnetIds[0]!,
  });
  const message = await refused(ec2.send(launch), "InvalidKeyPair.NotFound");
  assert.equal(message, "The key pair 'demo' does not exist");
  await ec2.send(new ImportKeyPairCommand({ KeyName: "demo", PublicKeyMaterial: material(ed25519) }));
  const { Instances } = await ec2.send(launch);
  const { Reservations } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [Instances![0]!.InstanceId!] }));
  assert.equal(Reservations?.[0]?.Instances?.[0]?.KeyName, "demo");
});
