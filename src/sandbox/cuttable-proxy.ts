/**
 * A TCP proxy in front of a server, one per client. Cut, it swallows what comes, as a cut network does: no refusal, no
 * end, only silence.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttableProxy {
  /** The server as reached through the proxy. */
  readonly url: URL;
  readonly cut: boolean;
  setCut(cut: boolean): void;
  close(): Promise<void>;
}

/** Starts a proxy of the server on a free port of loopback. */
export async function startCuttableProxy(server: URL): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  let cut = false;

  const enter = (socket: Socket) => {
    keep(socket);
    if (cut) {
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
    sockets.add(socket);
    socket.setNoDelay(true);
    // A connection that breaks is closed, and that is all there is to do about it.
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
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
    get cut() {
      return cut;
    },
    setCut(wanted) {
      if (wanted === cut) return;
      cut = wanted;
      for (const socket of sockets) {
        if (cut) socket.unpipe().pause();
        // What was lost on the way cannot be made good: everybody starts over.
        else socket.destroy();
      }
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        listener.close(() => resolve());
      }),
  };
}
