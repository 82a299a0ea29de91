import assert from "node:assert/strict";
import { test } from "node:test";
import { podState } from "./pods.ts";
import { quicAnnotation, quicIdFor } from "./quic.ts";

const container = (name: string, value: string | undefined, ...ports: readonly number[]) => ({
  name,
  env: [{ name: "ID", ...(value && { value }) }],
  ports: ports.map((containerPort) => ({ containerPort })),
});
const pod = (annotated: boolean, ...containers: readonly object[]) =>
  podState(
    {
      metadata: { name: "p", uid: "p", resourceVersion: "1", ...(annotated && { annotations: { [quicAnnotation]: "" } }) },
      spec: { containers },
    } as Parameters<typeof podState>[0],
    "ID",
  ).quic;

test("a target's QUIC server id is that of the container that has its port, else the first of the pod, in hexadecimal", () => {
  const ids = pod(true, container("side", undefined, 80), container("a", "LB5Cpy4ISRE=", 443), container("b", "AAAAAAAAAAE=", 8443))!;
  assert.deepEqual(
    [443, 8443, 80].map((port) => quicIdFor(ids, port)),
    ["0x2c1e42a72e084911", "0x0000000000000001", "0x2c1e42a72e084911"],
  );
});

test("of a pod without the annotation none is read, and what is not base64 is none", () => {
  assert.equal(pod(false, container("a", "LB5Cpy4ISRE=", 443)), undefined);
  for (const text of ["", "not base64!", "LB5Cpy4ISRE"]) assert.equal(pod(true, container("a", text, 443)), undefined, text);
});
