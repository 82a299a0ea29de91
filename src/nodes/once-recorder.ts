import type { EventReason, EventRecorder } from "../identity/event-reasons.ts";
import type { SeenNode } from "../identity/node-view.ts";
import { nodes } from "../kube/builtin.ts";
import { objectRef } from "../kube/event-recorder.ts";

/** Records Events about a Node that would repeat for ever: each once, for as long as the Node is the same one. */
export class OnceRecorder {
  readonly #recorder: EventRecorder;
  readonly #said = new Map<string, { readonly uid: string; readonly things: Set<string> }>();

  constructor(recorder: EventRecorder) {
    this.#recorder = recorder;
  }

  /** A Warning of this reason, unless the same was said of this Node before. `about` tells what counts as the same. */
  record(node: SeenNode, reason: EventReason, message: string, about = message): void {
    const { name, uid } = node.metadata;
    let said = this.#said.get(name);
    if (said?.uid !== uid) {
      said = { uid, things: new Set() };
      this.#said.set(name, said);
    }
    const thing = `${reason} ${about}`;
    if (said.things.has(thing)) return;
    said.things.add(thing);
    this.#recorder.record(objectRef(nodes, node), "Warning", reason, message);
  }

  /** The Node is gone, or well again: what happens next is news. */
  forget(name: string): void {
    this.#said.delete(name);
  }
}
