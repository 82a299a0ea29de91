/**
 * The labels that are good to have: the zone's id and the network topology. No Node waits for them: what cannot be
 * told now is `pending`, and is added when it can.
 */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import { type AwsError, isAwsError } from "../aws/errors.ts";
import { type Clock, within } from "../runtime/world.ts";
import type { Labels } from "./labels.ts";
import { networkLayerLabel, networkLayerLabels, zoneIdLabel } from "./labels.ts";
import { type Machine, typeOf, zoneOf } from "./machine.ts";
import type { NetworkTopology } from "./network-topology.ts";

export interface ExtraLabels {
  readonly labels: Record<string, string>;
  /** What could not be told this time, and why; undefined when all is told. */
  readonly pending: string | undefined;
  /** What must be allowed for the rest to be told. */
  readonly denied: readonly AwsError[];
}

/** The extra labels that a Node with these labels lacks. AWS not answering in time makes them pending; it never rejects for that. */
export async function extraLabels(
  { machine, existing, zones, networkTopology, clock, patienceMs }: ExtraQuestion,
  ask: Ask,
): Promise<ExtraLabels> {
  const denied = new Set<AwsError>();
  const told = async (what: string, labels: (ask: Ask) => Promise<Record<string, string>>): Promise<LabelsFound> => {
    try {
      return { labels: await within(clock, patienceMs, what, ask.signal, (signal) => labels({ ...ask, signal })) };
    } catch (error) {
      ask.signal.throwIfAborted();
      if (isAwsError(error, "denied")) denied.add(error);
      return { labels: {}, pending: (error as Error).message };
    }
  };
  const parts = await Promise.all([
    existing[zoneIdLabel] === undefined ? told("find the zone's id", (asked) => zoneIdLabels(machine, zones, asked)) : nothing,
    existing[networkLayerLabel(1)] === undefined
      ? told("find the network topology", (asked) => networkLabels(machine, networkTopology, asked, (error) => denied.add(error)))
      : nothing,
  ]);
  const pending = parts.flatMap((part) => part.pending ?? []);
  return {
    labels: Object.assign({}, ...parts.map(({ labels }) => labels)),
    pending: pending.length > 0 ? pending.join("; ") : undefined,
    denied: [...denied],
  };
}

export interface ExtraQuestion {
  readonly machine: Machine;
  readonly existing: Labels;
  readonly zones: Cloud["availabilityZones"];
  readonly networkTopology: NetworkTopology;
  readonly clock: Clock;
  readonly patienceMs: number;
}

interface LabelsFound {
  readonly labels: Record<string, string>;
  readonly pending?: string;
}

const nothing: LabelsFound = { labels: {} };

async function zoneIdLabels(machine: Machine, zones: Cloud["availabilityZones"], ask: Ask): Promise<Record<string, string>> {
  const zone = zoneOf(machine);
  if (zone === undefined) return {};
  const described = machine.kind === "instance" ? machine.instance.zoneId : undefined;
  const id = described ?? (await zones.byName(zone, ask))?.id;
  if (!id) throw new Error(`Could not get zone ID from zone name ${zone}`);
  return { [zoneIdLabel]: id };
}

async function networkLabels(
  machine: Machine,
  networkTopology: NetworkTopology,
  ask: Ask,
  denied: (error: AwsError) => void,
): Promise<Record<string, string>> {
  if (machine.kind !== "instance" || typeOf(machine) === "") return {};
  return networkLayerLabels(await networkTopology.of(machine.instance, ask, denied));
}
