import assert from "node:assert/strict";
import { test } from "node:test";
import { readTemplate, TemplateInvalid } from "./template.ts";

const render = (source: string, data: Record<string, unknown> = { Name: "Web", Empty: "", Labels: { b: "2", a: "1" }, Pods: ["x", "y"] }) =>
  readTemplate(source, Object.keys(data))(data);

test("fields, texts, functions and pipelines", () => {
  assert.equal(render("a {{ .Name }} b {{.Name | lower}}"), "a Web b web");
  assert.equal(render('{{ .Name | replace "W" "w" | quote }}'), '"web"');
  assert.equal(render('{{ .Empty | default "none" }} {{ default "none" .Name }}'), "none Web");
  assert.equal(render('{{ trimPrefix "W" .Name }}{{ .Labels.a }}'), "eb1");
  assert.equal(render("{{ .Pods | toJson }} {{ .Labels }}"), '["x","y"] map[a:1 b:2]');
});

test("conditions, and spaces taken away", () => {
  assert.equal(render("{{ if .Empty }}yes{{ else }}no{{ end }}"), "no");
  assert.equal(render('{{ if eq .Name "Web" }}yes{{ end }}'), "yes");
  assert.equal(render("a  {{- .Name -}}  b"), "aWebb");
});

test("what is not understood is refused, with what is", () => {
  const sources = ["{{ .Other }}", "{{ .Name | shout }}", "{{ range .Pods }}{{ end }}", "{{ if .Name }}", "{{ end }}", "{{ .Name", "{{ }}"];
  for (const source of sources) assert.throws(() => render(source), TemplateInvalid, source);
});
