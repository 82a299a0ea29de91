/** The reference page of metrics, from what a running controller manager serves. */

const path = new URL("../../docs/reference/metrics.md", import.meta.url);

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

/** Where the page is kept. */
export const metricsPagePath = path;

/** What a scrape says of itself, Node's own metrics left out. */
export function metricsIn(scrape: string): readonly Metric[] {
  const helps = new Map([...scrape.matchAll(/^# HELP (\w+) (.*)$/gm)].map(([, name, help]) => [name!, help!]));
  return [...scrape.matchAll(/^# TYPE (\w+) (\w+)$/gm)]
    .map(([, name, type]) => ({ name: name!, type: type!, help: helps.get(name!) ?? "" }))
    .filter(({ name }) => !/^(process|nodejs)_/.test(name));
}

/** The rows of the page as it is stored. */
export function metricsOf(page: string): readonly Metric[] {
  return [...page.matchAll(/^\| `(\w+)` \| (\w+) \| (.*) \|$/gm)].map(([, name, type, help]) => ({
    name: name!,
    type: type!,
    help: help!,
  }));
}

/** The page for these metrics. */
export function metricsPage(metrics: readonly Metric[]): string {
  const rows = metrics
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help.replaceAll("|", "/")} |`);
  return `# Metrics

<!-- Generated from a running controller manager: FAIRLEAD_WRITE_DOCS=1 node test/run.ts integration install-pod -->

Served at \`/metrics\` on the secure port, beside those that every Node process has (\`process_*\`, \`nodejs_*\`). The results of health checks
are at \`/metrics/slis\`. Names without \`fairlead_\` are those of the reference and of every Kubernetes program.

| Metric | Type | What it counts |
|---|---|---|
${rows.join("\n")}
`;
}
