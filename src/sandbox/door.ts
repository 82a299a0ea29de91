/**
 * A door in front of a server, one for each who goes through it. Shut, it swallows what comes, as a cut network does: no
 * refusal, no end, only silence.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Door {
  /** The server as reached through the door. */
  readonly url: URL;
  readonly shut: boolean;
  setShut(shut: boolean): void;
  close(): Promise<void>;
}

/** Hangs a door before the server, on a free port of loopback. */
export async function hangDoor(server: URL): Promise<Door> {
  const passages = new Set<Socket>();
  let shut = false;

  const enter = (socket: Socket) => {
    keep(socket);
    if (shut) {
      socket.pause();
      return;
    }
    const beyond = connect({ host: server.hostname, port: Number(server.port) });
    keep(beyond);
    socket.pipe(beyond).pipe(socket);
    socket.once("close", () => beyond.destroy());
    beyond.once("close", () => socket.destroy());
  };
  const keep = (socket: Socket) => {
    passages.add(socket);
    socket.setNoDelay(true);
    // A connection that breaks is closed, and that is all there is to do about it.
    socket.on("error", () => {});
    socket.once("close", () => passages.delete(socket));
  };

  const listener = createServer(enter);
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(0, "127.0.0.1", resolve);
  });
  const url = new URL(server);
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url,
    get shut() {
      return shut;
    },
    setShut(wanted) {
      if (wanted === shut) return;
      shut = wanted;
      for (const socket of passages) {
        if (shut) socket.unpipe().pause();
        // What was lost on the way cannot be made good: everybody starts over.
        else socket.destroy();
      }
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of passages) socket.destroy();
        listener.close(() => resolve());
      }),
  };
}
