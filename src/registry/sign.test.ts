import assert from "node:assert/strict";
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { test } from "node:test";
import { SignatureV4 } from "@smithy/signature-v4";
import { nodePlatform } from "./platform-node.ts";
import { signed } from "./sign.ts";

class Sha256 {
  readonly #hash: Hash | Hmac;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as string);
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

test("the signature is the one AWS's SDK makes", async () => {
  const at = Date.UTC(2026, 2, 4, 5, 6, 7);
  const headers = {
    "content-type": "application/x-amz-json-1.1",
    "x-amz-target": "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken",
  };
  for (const sessionToken of [undefined, "a session/token+with=signs"]) {
    for (const [service, region, text] of [
      ["ecr", "us-west-2", "https://api.ecr.us-west-2.amazonaws.com/"],
      ["ecr-public", "us-east-1", "http://127.0.0.1:4566/"],
      ["ecr", "", "http://localhost/base/path"],
    ] as const) {
      const url = new URL(text);
      const credentials = {
        accessKeyId: "AKIDEXAMPLE",
        secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        ...(sessionToken && { sessionToken }),
      };
      const ours = signed(url, headers, "{}", credentials, { service, region }, at, nodePlatform.hashing);

      const signer = new SignatureV4({ service, region, credentials, sha256: Sha256, applyChecksum: false });
      const request = { method: "POST", protocol: url.protocol, hostname: url.hostname, path: url.pathname, query: {}, body: "{}" };
      const theirs = await signer.sign({ ...request, headers: { ...headers, host: url.host } }, { signingDate: new Date(at) });
      assert.deepEqual(ours, theirs.headers);
    }
  }
});
