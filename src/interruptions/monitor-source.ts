import type { Nodes } from "../identity/node-view.ts";
import type { Source } from "../runtime/controller.ts";
import { unlessAborted } from "../runtime/world.ts";

/** A monitor as what wakes the controller. It begins when the Nodes are known: until then nobody can tell whose a notice is. */
export function monitorSource(name: string, nodes: Pick<Nodes, "synced">, run: (signal: AbortSignal) => void): Source {
  return {
    name,
    async start(_, signal) {
      try {
        await unlessAborted(signal, nodes.synced);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      run(signal);
    },
  };
}
