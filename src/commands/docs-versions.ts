/** The page docs/versions.md: one statement of what works with what, from the runs of `npm run versions`. */
import { kubernetesRuns, oldestMinor, testedWith, worksWith } from "../process/tested.ts";

export function versionsPage(row: (cells: readonly string[]) => string): string {
  return `# Versions

<!-- Generated from src/process/tested.ts and the runs of \`npm run versions\`; run \`npm run docs\` after changing them. -->

Tested: **${worksWith}**. The integration tests that show what differs between API servers (admission, patches, watches, roles,
definitions, the chart) and the [suite for real accounts](e2e.md) ran on each of them.

| Kubernetes | Date | Tests |
|---|---|---|
${kubernetesRuns.map(({ kubernetes, date, passed, failed }) => row([kubernetes, date, failed > 0 ? `${failed} failed` : `${passed} passed`])).join("\n")}

\`\`\`sh account
npm run versions            # all of 1.33 to 1.37; each API server is built once, in about seven minutes on two cores
npm run versions -- 1.36.3
\`\`\`

All other tests run on ${testedWith.Kubernetes}, with etcd ${testedWith.etcd}. Outside of the table the doctor warns. The chart and the doctor reject Kubernetes older than 1.${oldestMinor}.
Streaming lists are used from 1.34 on, paged lists before.

## How versions relate

- Releases follow Kubernetes minors once 1.0 is out: \`v1.36.z\` is built for 1.36, and works with API servers one minor older or newer, so you
  can upgrade the control plane before or after it. Until then there is one line, \`v0.y.z\`, for all minors of the table.
- \`z\` counts our own releases. Within a minor nothing that works is removed, except for security, and then the
  [changelog](../CHANGELOG.md) says so. \`-alpha.N\`, \`-beta.N\` and \`-rc.N\` come before a release and are promised nothing.
- \`fairlead version\` prints the commit, what it was tested with, and [how mature each program is](maturity.md).
- It matches the features of the reference at ${testedWith["cloud-provider-aws"]}.
- The chart has the version of the program. The image contains Node. The machines need only a kernel and, for the credential provider, glibc 2.17.

## How long each is kept

- The three newest minors get fixes, each as long as Kubernetes keeps it, about 14 months. Of \`v0.y.z\` only the newest is kept.
- Each minor has a branch, \`release-1.N\`. A fix is made on \`main\` and cherry-picked to the branches that have the defect; a feature is not,
  unless it is needed for a fix. Each backport is a release of its own, with its line in the changelog.
- Security fixes are released for all that are kept, at once: [SECURITY.md](../SECURITY.md).

## Upgrade

\`\`\`sh
helm upgrade fairlead deploy/chart --namespace kube-system --reset-then-reuse-values --dry-run=server > changes.yaml
helm upgrade fairlead deploy/chart --namespace kube-system --reset-then-reuse-values
\`\`\`

Replicas are replaced one by one. The leader releases its Lease when it is stopped, so the next one leads within two seconds. To go back:
\`helm rollback fairlead\`. Fairlead keeps no state of its own, so there is nothing to convert in either direction.
`;
}
