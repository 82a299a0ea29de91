/** What kubelet waits for at every pull from a private registry. */
import { hostArchitecture } from "../../deploy/build/architecture.ts";
import { credentialProvider } from "../../deploy/build/credential-provider.ts";
import { referenceCredentialProvider } from "../../test/referees/reference.ts";
import { type ColdStart, coldStarts, quantile } from "../bed/cold-starts.ts";
import type { Entrant } from "../bed/entrants.ts";
import type { Figures } from "../bed/figures.ts";
import type { Scenario, Steps } from "./scenario.ts";

const rounds = 50;

export const credentialProviderStart: Scenario = {
  name: "cold-starts",
  title: "50 cold starts of the credential provider",
  about:
    "Each start is a separate process that asks a double of ECR on this machine, which answers at once. Time, processor " +
    "time and peak memory are medians of 50. Nodes use TLS, and read all certificates that the machine trusts first.",
  entrants: ["reference", "fairlead"],
  run: start,
};

async function start({ name }: Entrant): Promise<Steps> {
  const program = name === "fairlead" ? await credentialProvider(hostArchitecture()) : await referenceCredentialProvider();
  return {
    "over TLS": figures(await coldStarts([program], rounds, true)),
    "over plain HTTP": figures(await coldStarts([program], rounds, false)),
  };
}

function figures(samples: readonly ColdStart[]): Figures {
  const failed = samples.filter(({ status }) => status !== 0).length;
  if (failed > 0) throw new Error(`${failed} of ${samples.length} cold starts failed`);
  const median = (of: (sample: ColdStart) => number) => quantile(samples.map(of), 0.5);
  return {
    seconds: median(({ wallMs }) => wallMs) / 1000,
    cpuSeconds: median(({ processorMs }) => processorMs) / 1000,
    peakMb: median(({ megabytes }) => megabytes),
  };
}
