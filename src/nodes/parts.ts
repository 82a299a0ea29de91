/** What the controllers of this domain are made of. */
import type { Cloud } from "../aws/cloud.ts";
import type { EventRecorder } from "../identity/event-reasons.ts";
import type { Nodes } from "../identity/node-view.ts";
import type { Self } from "../identity/self.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Host } from "../runtime/host.ts";

export interface NodeParts {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  readonly cloud: Cloud;
  readonly self: Self;
  /** The informer every controller shares. */
  readonly nodes: Nodes;
}

/** Nodes in work at once unless a flag says otherwise: they mostly wait for AWS, and those who ask at once share calls. */
export const manyAtOnce = 1_000;
