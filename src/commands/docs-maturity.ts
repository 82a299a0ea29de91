/** The page docs/maturity.md. */
import { maturity, neverOnRealAccount, notAffiliated, stages } from "../process/maturity.ts";

export function maturityPage(row: (cells: readonly string[]) => string): string {
  return `# Maturity

<!-- Generated from src/process/maturity.ts; run \`npm run docs\` after changing it. -->

**${neverOnRealAccount}** Try it on a cluster that you can do without first: \`fairlead plan\` and \`--dry-run\` show what it would do,
and [\`fairlead e2e\`](e2e.md) tests it on your own cluster and account. Its report is the most useful thing you can contribute.

| Program | Stage | |
|---|---|---|
${Object.entries(maturity)
  .map(([name, { stage, why }]) => row([`\`fairlead ${name}\``, stage, why]))
  .join("\n")}

| Stage | What it means |
|---|---|
${Object.entries(stages)
  .map(([name, meaning]) => row([name, meaning]))
  .join("\n")}

Commands that only read (\`plan\`, \`explain\`, \`doctor\`, \`version\`) have no stage: the worst they can do is to be wrong.

Not tested anywhere so far, because nothing on a developer's machine can show it: how long AWS takes, what real traffic does while targets
change, quotas and throttling of a real account, and regions and partitions beyond what AWS documents about them.

Report defects as issues of the repository; what concerns security as [SECURITY.md](../SECURITY.md) says. ${notAffiliated}
`;
}
