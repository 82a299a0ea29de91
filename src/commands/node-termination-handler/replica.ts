/** The Lease of a replica in queue mode: by it the others see that it is there. Without it nothing is written. */
import { Holders, replicaHolder, replicaLeaseName } from "../../interruptions/holders.ts";
import { sweepReplicaLeases } from "../../interruptions/stale-leases.ts";
import { leaseStore } from "../../kube/lease-store.ts";
import type { KubeClients } from "../../process/clients.ts";
import { Election, identityOf } from "../../runtime/election.ts";
import { openGate } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import type { Identity } from "./handler.ts";

const timings = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

/** A replica that others know of. */
export interface Replica extends Identity {
  readonly election: Election;
}

/** Resolves when the Lease is held. What replicas that are no more have left behind is cleaned up until `life` ends. */
export async function joinReplicas(
  host: Host,
  clients: KubeClients,
  { component, namespace }: { readonly component: string; readonly namespace: string },
  stop: AbortSignal,
  life: AbortSignal,
): Promise<Replica> {
  const client = clients.named("leader-election", openGate());
  const identity = identityOf(host.world);
  const name = replicaLeaseName(host.world.hostname);
  const election = new Election(host, {
    store: leaseStore(client, { namespace, name, renewDeadlineMs: timings.renewDeadlineMs }),
    identity,
    timings,
    name,
    lostMessage: "the Lease of this replica was lost",
  });
  await election.lead(stop);
  void sweepReplicaLeases(client, namespace, life);
  return { election, me: replicaHolder(namespace, identity), holders: new Holders(clients.named(component, openGate())) };
}
