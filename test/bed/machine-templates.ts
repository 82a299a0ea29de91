/** The templates of machine classes, rendered by Go's own engine as a node manager renders them. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { parse, stringify } from "yaml";
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
  const tree = Object.fromEntries(
    Object.entries(registrationData(input)).map(([key, text]) => [key, key === "aws" ? JSON.parse(text) : text]),
  );
  const nodeGroup = { name: group.name, instanceClass, manualRolloutID: rollout };
  const values = {
    global: { discovery: { clusterUUID: input.clusterUUID } },
    nodeManager: { internal: { cloudProvider: tree } },
    context: { nodeGroup, zoneName: zone },
  };
  return renderGo(t, machineTemplates[name], values, name.endsWith("checksum") ? "checksum: " : "");
}

/** Renders a script for nodes, for a group of them. */
export async function renderScript(t: TestContext, script: string, group: string): Promise<string> {
  // As a value of a key, because the engine of charts takes nothing but YAML.
  const { script: text } = parse(await renderGo(t, script, { context: { nodeGroup: { name: group } } }, "script: ", " | toJson")) as {
    readonly script: string;
  };
  return text;
}

async function renderGo(t: TestContext, template: string, values: object, before: string, after = ""): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "artifacts-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "templates"));
  const body = `{{- define "it" -}}\n${template}\n{{- end -}}\n`;
  const call = `{{ include "it" (merge (dict "Values" .Values) .Values.context)${after} }}\n`;
  await writeFile(join(folder, "Chart.yaml"), stringify({ apiVersion: "v2", name: "it", version: "0.0.0" }));
  // As JSON: of YAML without quotes Go would read the key y as true.
  await writeFile(join(folder, "values.yaml"), JSON.stringify(values));
  await writeFile(join(folder, "templates/_it.tpl"), `${labels}\n${body}`);
  await writeFile(join(folder, "templates/it.yaml"), `${before}${call}`);
  return run(await helm(), ["template", "it", folder]);
}
