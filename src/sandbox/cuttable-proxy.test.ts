import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { startCuttableProxy } from "./cuttable-proxy.ts";

test("a proxy lets everything through; cut, it swallows what comes; open again, old connections break and new ones pass", async (t) => {
  const arrived: string[] = [];
  const echo = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      arrived.push(data.toString());
      socket.write(data);
    });
  });
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  const proxy = await startCuttableProxy(new URL(`http://127.0.0.1:${(echo.address() as AddressInfo).port}`));
  t.after(async () => {
    await proxy.close();
    echo.close();
  });
  const enter = () => connect({ host: "127.0.0.1", port: Number(proxy.url.port) }).on("error", () => {});

  const before = enter();
  assert.equal(await said(before, "one"), "one");

  proxy.setCut(true);
  before.write("lost");
  const broken = new Promise((resolve) => before.once("close", resolve));
  proxy.setCut(false);
  await broken;

  const after = enter();
  assert.equal(await said(after, "two"), "two");
  assert.deepEqual(arrived, ["one", "two"]);
});

async function said(socket: Socket, words: string): Promise<string> {
  socket.write(words);
  const [heard] = await once(socket, "data");
  return String(heard);
}
