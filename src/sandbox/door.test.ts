import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { hangDoor } from "./door.ts";

test("a door lets everything through; shut, it swallows what comes; open again, old connections break and new ones pass", async (t) => {
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
  const door = await hangDoor(new URL(`http://127.0.0.1:${(echo.address() as AddressInfo).port}`));
  t.after(async () => {
    await door.close();
    echo.close();
  });
  const enter = () => connect({ host: "127.0.0.1", port: Number(door.url.port) }).on("error", () => {});

  const before = enter();
  assert.equal(await said(before, "one"), "one");

  door.setShut(true);
  before.write("lost");
  const broken = new Promise((resolve) => before.once("close", resolve));
  door.setShut(false);
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
