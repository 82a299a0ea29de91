import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyText } from "../runtime/http.ts";
import { behindProxy } from "../runtime/testing/connect-proxy.ts";
import { realWorld } from "../runtime/world.ts";
import { describeInstances } from "./ec2-actions.ts";
import { awsSockets } from "./sockets.ts";
import { cloudOver, instanceId, SmallEc2, testKeys } from "./testing/small-ec2.ts";

test("AWS is reached through the proxy of the environment, trusted by AWS_CA_BUNDLE, the metadata service past it", async (t) => {
  const ec2 = new SmallEc2([{ id: instanceId(0) }]);
  const behind = await behindProxy(t, {
    hosts: ["ec2.us-east-1.amazonaws.com"],
    answer: async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const url = new URL(request.url ?? "/", "https://ec2.us-east-1.amazonaws.com");
      const headers = request.headers as Record<string, string>;
      const answer = await ec2.transport({ method: request.method ?? "", url, headers, body });
      response.writeHead(answer.status, answer.headers).end(await bodyText(answer));
    },
  });
  const machine = realWorld();
  const read = async (path: string) => Buffer.from(path === "/bundle.pem" ? behind.ca : await machine.files.read(path));
  const environment = {
    ...testKeys,
    HTTPS_PROXY: behind.proxy,
    HTTP_PROXY: behind.proxy,
    AWS_CA_BUNDLE: "/bundle.pem",
    AWS_EC2_METADATA_SERVICE_ENDPOINT: "http://metadata.invalid",
  };
  const world = { ...machine, environment, files: { ...machine.files, read } };
  const sockets = awsSockets(world);
  t.after(sockets.close);
  const { cloud, clouds } = await cloudOver({ transport: sockets.send }, world);

  const ask = { cause: "test", signal: new AbortController().signal };
  const found = await cloud.call(describeInstances, { InstanceIds: [instanceId(0)] }, ask);
  assert.equal(found.Reservations?.[0]?.Instances?.[0]?.InstanceId, instanceId(0));
  await assert.rejects(clouds.metadata.instanceId(), /metadata\.invalid/);
  assert.deepEqual(behind.seen, ["CONNECT ec2.us-east-1.amazonaws.com:443"]);
});
