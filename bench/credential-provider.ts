/**
 * Cold starts of the ECR credential provider beside the reference program, once over plain HTTP, and once over TLS with the
 * certificates this machine trusts, as on a node.
 *
 *     npm run bench credential-provider [rounds]
 */
import { hostArchitecture } from "../deploy/build/architecture.ts";
import { credentialProvider } from "../deploy/build/credential-provider.ts";
import { referenceCredentialProvider, referenceVersion } from "../test/referees/reference.ts";
import { type ColdStart, coldStarts, quantile } from "./bed/cold-starts.ts";

const rounds = Number(process.argv[2] ?? 50);
const programs = [await credentialProvider(hostArchitecture()), await referenceCredentialProvider(console.error)];
for (const secure of [false, true]) {
  const samples = await coldStarts(programs, rounds, secure);
  const failed = samples.filter(({ status }) => status !== 0).length;
  console.log(`${rounds} alternating cold starts each over ${secure ? "TLS" : "plain HTTP"}, ${failed} failed\n`);
  console.log("| Program | Wall time: median | 90% | fastest | Processor time | Peak memory |");
  console.log("|---|---|---|---|---|---|");
  console.log(row("Fairlead", samples, 0));
  console.log(`${row(`Reference ${referenceVersion}`, samples, 1)}\n`);
  if (failed > 0) process.exitCode = 1;
}

function row(name: string, samples: readonly ColdStart[], program: number): string {
  const own = samples.filter((sample) => sample.program === program);
  const at = (share: number, of: (sample: ColdStart) => number) => quantile(own.map(of), share).toFixed(1);
  const wall = (sample: ColdStart) => sample.wallMs;
  const times = `${at(0.5, wall)} ms | ${at(0.9, wall)} ms | ${at(0, wall)} ms`;
  return `| ${name} | ${times} | ${at(0.5, (sample) => sample.processorMs)} ms | ${at(0.5, (sample) => sample.megabytes)} MB |`;
}
