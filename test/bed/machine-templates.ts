/** The templates of machine classes, rendered by Go's own engine as a node manager renders them. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { stringify } from "yaml";
import { helm } from "../../deploy/build/helm.ts";
import { run } from "../../deploy/build/run.ts";
import type { ArtifactsInput } from "../../src/discovery/artifacts/input.ts";
import { registrationData } from "../../src/discovery/artifacts/registration.ts";
import { machineTemplates } from "../../src/discovery/artifacts/templates.ts";

export type MachineTemplate = keyof typeof machineTemplates;

/** A NodeGroup in one of its zones. */
export interface GroupInZone {
  readonly name: string;
  readonly instanceClass: object;
  readonly zone: string;
  readonly rollout?: string | undefined;
}

/** The partial that a node manager gives its templates. */
const labels = `{{- define "helm_lib_module_labels" -}}
labels:
  heritage: deckhouse
  module: node-manager
{{- range $key, $value := index . 1 }}
  {{ $key }}: {{ $value | quote }}
{{- end }}
{{- end -}}`;

/** Renders a template as the node manager does. */
export async function renderTemplate(t: TestContext, name: MachineTemplate, input: ArtifactsInput, group: GroupInZone): Promise<string> {
  const { instanceClass, rollout = "", zone } = group;
  const folder = await mkdtemp(join(tmpdir(), "artifacts-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "templates"));
  const tree = Object.fromEntries(
    Object.entries(registrationData(input)).map(([key, text]) => [key, key === "aws" ? JSON.parse(text) : text]),
  );
  const nodeGroup = { name: group.name, instanceClass, manualRolloutID: rollout };
  const values = {
    global: { discovery: { clusterUUID: input.clusterUUID } },
    nodeManager: { internal: { cloudProvider: tree } },
    context: { nodeGroup, zoneName: zone },
  };
  const body = `{{- define "it" -}}\n${machineTemplates[name]}\n{{- end -}}\n`;
  const call = `{{ include "it" (merge (dict "Values" .Values) .Values.context) }}\n`;
  await writeFile(join(folder, "Chart.yaml"), stringify({ apiVersion: "v2", name: "it", version: "0.0.0" }));
  // As JSON: of YAML without quotes Go would read the key y as true.
  await writeFile(join(folder, "values.yaml"), JSON.stringify(values));
  await writeFile(join(folder, "templates/_it.tpl"), `${labels}\n${body}`);
  await writeFile(join(folder, "templates/it.yaml"), name.endsWith("checksum") ? `checksum: ${call}` : call);
  return run(await helm(), ["template", "it", folder]);
}
