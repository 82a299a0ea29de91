/** How long a replica takes to be of use. */
import { setTimeout as pause } from "node:timers/promises";
import { leases } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { Bed } from "../bed/bed.ts";
import type { Entrant } from "../bed/entrants.ts";
import type { Figures } from "../bed/figures.ts";
import type { Program } from "../bed/program.ts";
import { type Scenario, type Size, type Steps, usualCloud } from "./scenario.ts";

const flags = ["--configure-cloud-routes=false"];
const lease = { namespace: "kube-system", name: "cloud-controller-manager" };

export const processStart: Scenario = {
  name: "process-start",
  title: "Process start",
  about:
    "100 initialised Nodes, leader election on, the Lease free. Ready: from the start of the process until /readyz (or " +
    "/healthz, where there is no /readyz) answers 200. Leading: until it holds the Lease.",
  entrants: ["reference", "fairlead"],
  run: start,
};

async function start(entrant: Entrant, size: Size): Promise<Steps> {
  await using bed = await Bed.make(entrant, usualCloud);
  const { admin } = bed.cluster;
  await bed.join(size.count(100), () => ({ kind: "initialised" }));
  const ready = await bed.fromStart(flags, (program) =>
    often(program, async () => (await program.answers("/readyz")) || program.answers("/healthz")),
  );
  await bed.endProgram();
  await admin.delete(leases, lease);
  const leading: Figures = await bed.fromStart(flags, (program) =>
    often(program, async () => {
      const held = await admin.get(leases, lease).catch((error: unknown) => {
        if (isApiError(error, "not-found")) return undefined;
        throw error;
      });
      return Boolean(held?.spec?.holderIdentity);
    }),
  );
  return { ready, leading };
}

/** Asks every few milliseconds: what is waited for takes a second or so. */
async function often(program: Program, isSo: () => Promise<boolean>): Promise<number> {
  for (;;) {
    if (await isSo()) return performance.now();
    await program.mustRun();
    await pause(10);
  }
}
