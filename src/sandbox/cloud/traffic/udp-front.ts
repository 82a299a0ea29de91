/** Datagrams in front of targets: all that a client sends from one port go to one target, and what that sends goes back to the client. */
import { createSocket, type Socket } from "node:dgram";
import type { LoopbackAddress } from "./pods.ts";
import type { Source } from "./tcp-front.ts";

/** AWS forgets a flow after two minutes of silence; here the oldest one goes when there are so many. */
const maxFlows = 1_000;

/** Passes datagrams on to where `decide` says when a client's first one comes, and drops them where that is nowhere. */
export function serveDatagrams(decide: (source: Source) => LoopbackAddress | undefined, front: Socket): void {
  const flows = new Map<string, { readonly behind: Socket; readonly to: LoopbackAddress }>();
  const open = (key: string, source: Source) => {
    const to = decide(source);
    if (to === undefined) return undefined;
    const behind = createSocket("udp4");
    behind.on("error", () => end(key));
    behind.on("message", (answer) => front.send(answer, source.sourcePort, source.sourceIp));
    flows.set(key, { behind, to });
    const [oldest = key] = flows.keys();
    if (flows.size > maxFlows) end(oldest);
    return { behind, to };
  };
  const end = (key: string) => {
    flows.get(key)?.behind.close();
    flows.delete(key);
  };
  front.on("message", (datagram, { address: sourceIp, port: sourcePort }) => {
    const key = `${sourceIp} ${sourcePort}`;
    const flow = flows.get(key) ?? open(key, { sourceIp, sourcePort });
    flow?.behind.send(datagram, flow.to.port, flow.to.host);
  });
  front.once("close", () => {
    for (const key of flows.keys()) end(key);
  });
}
