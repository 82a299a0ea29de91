import assert from "node:assert/strict";
import { test } from "node:test";
import { renderTemplate } from "./template.ts";

const data = { PVCName: "data-web-0", PVCNamespace: "shop-prod", PVName: "pvc-1", Empty: "" };

for (const [template, expected] of [
  ["plain", "plain"],
  ["", ""],
  ["{{ .PVCName }}", "data-web-0"],
  ["{{.PVCNamespace}}/{{.PVCName}}", "shop-prod/data-web-0"],
  ["a {{- .PVCName -}} b", "adata-web-0b"],
  ["{{/* nothing */}}x", "x"],
  ["{{ .PVCName | toUpper }}", "DATA-WEB-0"],
  ["{{ toLower .PVCName }}", "data-web-0"],
  ['{{ .PVCNamespace | field "-" 0 }}', "shop"],
  ['{{ .PVCNamespace | field "-" 1 | toUpper }}', "PROD"],
  ["{{ .PVCName | substring 0 4 }}", "data"],
  ["{{ .PVCName | substring -1 4 }}", "data"],
  ["{{ .PVCName | substring 5 -1 }}", "web-0"],
  ["{{ .PVCName | substring 5 99 }}", "web-0"],
  ['{{ .PVCName | contains "web" }}', "true"],
  ['{{ .PVCName | index "-" }}', "4"],
  ['{{ .PVCName | lastIndex "-" }}', "8"],
  ['{{ .PVCName | lastIndex "x" }}', "-1"],
  ['{{ if contains "prod" .PVCNamespace }}p{{ else }}t{{ end }}', "p"],
  ['{{ if eq .PVCName "a" }}1{{ else if eq .PVCName "b" "data-web-0" }}2{{ else }}3{{ end }}', "2"],
  ["{{ with .Empty }}{{ . }}{{ else }}none{{ end }}", "none"],
  ["{{ with .PVCName }}{{ . | toUpper }} {{ $.PVName }}{{ end }}", "DATA-WEB-0 pvc-1"],
  ["{{ if and .PVCName (not .Empty) }}yes{{ end }}", "yes"],
  ["{{ or .Empty .PVName }}", "pvc-1"],
  ["{{ len .PVCName }}", "10"],
  ["{{ slice .PVCName 0 4 }}", "data"],
  ['{{ printf "%s-%03d" .PVName 7 }}', "pvc-1-007"],
  ['{{ print "a" 1 2 "b" }}', "a1 2b"],
  ["{{ if lt (len .PVCName) 64 }}short{{ end }}", "short"],
  ["{{ `raw` }}", "raw"],
] as const) {
  test(`${template || "nothing"} becomes ${expected || "nothing"}`, () => {
    assert.equal(renderTemplate(template, data), expected);
  });
}

for (const [template, reason] of [
  ["{{ .PVCName", /unclosed action/],
  ["{{ .Nope }}", /can't evaluate field Nope/],
  ["{{ nope .PVCName }}", /function "nope" not defined/],
  ["{{ }}", /missing value/],
  ["{{ .PVCName | }}", /missing value/],
  ["{{ if .PVCName }}x", /without \{\{end\}\}/],
  ["{{ end }}", /unexpected \{\{end\}\}/],
  ["{{ html .PVCName }}", /disabled/],
  ["{{ js .PVCName }}", /disabled/],
  ["{{ call .PVCName }}", /disabled/],
  ["{{ urlquery .PVCName }}", /disabled/],
  ['{{ .PVCName | field "-" 9 }}', /has no field 9/],
  ["{{ .PVCName | substring 8 2 }}", /out of range/],
  ["{{ range .PVCName }}x{{ end }}", /range.* is not supported/],
  ["{{ $x := .PVCName }}", /unexpected/],
  ["{{ toUpper 3 }}", /expected a text/],
  ['{{ eq 1 "a" }}', /incompatible types/],
  ["{{ .PVCName .PVName }}", /only a function can be given arguments/],
  ["{{ toUpper }}", /wrong number of arguments/],
] as const) {
  test(`${template} is refused`, () => {
    assert.throws(() => renderTemplate(template, data), reason);
  });
}
