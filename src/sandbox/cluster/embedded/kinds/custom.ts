/** CustomResourceDefinitions, and the resources that come into being through them. */
import { asList, asObject, asText, at, type JsonObject, type KubeObject } from "../json.ts";
import { mergeRulesOfSchema } from "../merge-rules.ts";
import type { Behaviour, PrinterColumn, Resource } from "../resources.ts";
import { completeBySchema, schemaErrors } from "../schema.ts";
import { type FieldError, fieldErrors } from "../status.ts";
import { resource } from "./catalogue.ts";

const definitions: Behaviour = {
  complete(definition, before) {
    const spec = asObject(definition.spec);
    definition.spec = spec;
    const names = asObject(spec.names);
    names.singular ??= asText(names.kind).toLowerCase();
    names.listKind ??= `${asText(names.kind)}List`;
    spec.names = names;
    spec.conversion ??= { strategy: "None" };
    if (before !== undefined) return;
    const condition = (type: string, reason: string, message: string): JsonObject => ({
      type,
      status: "True",
      lastTransitionTime: definition.metadata.creationTimestamp,
      reason,
      message,
    });
    definition.status = {
      conditions: [
        condition("NamesAccepted", "NoConflicts", "no conflicts found"),
        condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
      ],
      acceptedNames: { ...names },
      storedVersions: asList(spec.versions)
        .filter((version) => asObject(version).storage === true)
        .map((version) => asText(asObject(version).name)),
    };
  },
  validate(definition) {
    const spec = asObject(definition.spec);
    const errors: FieldError[] = [];
    const wanted = `${asText(asObject(spec.names).plural)}.${asText(spec.group)}`;
    if (definition.metadata.name !== wanted) {
      errors.push(fieldErrors.invalid("metadata.name", definition.metadata.name, 'must be spec.names.plural+"."+spec.group'));
    }
    if (asText(spec.group) === "") errors.push(fieldErrors.required("spec.group"));
    if (spec.scope !== "Namespaced" && spec.scope !== "Cluster") {
      errors.push(fieldErrors.unsupported("spec.scope", spec.scope ?? "", ["Cluster", "Namespaced"]));
    }
    return errors;
  },
};

/** The resource under which definitions themselves are stored. */
export function definitionResource(): Resource {
  return resource({
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    shortNames: ["crd", "crds"],
    namespaced: false,
    subresources: ["status"],
    generation: true,
    unconditionalUpdate: false,
    returnsDeleted: true,
    behaviour: definitions,
  });
}

/** What a definition serves: one resource a served version. */
export function resourcesDefinedBy(definition: KubeObject): Resource[] {
  const spec = asObject(definition.spec);
  const names = asObject(spec.names);
  return asList(spec.versions)
    .map(asObject)
    .filter((version) => version.served === true)
    .map((version) => {
      const schema = asObject(at(version, "schema", "openAPIV3Schema"));
      const subresources = asObject(version.subresources);
      return resource({
        group: asText(spec.group),
        version: asText(version.name),
        kind: asText(names.kind),
        listKind: asText(names.listKind),
        plural: asText(names.plural),
        singular: asText(names.singular),
        shortNames: asList(names.shortNames).map(asText),
        categories: asList(names.categories).map(asText),
        namespaced: spec.scope === "Namespaced",
        subresources: Object.keys(subresources).sort().reverse(),
        generation: true,
        unconditionalUpdate: false,
        custom: true,
        behaviour: {
          complete: (object) => completeBySchema(object, schema),
          validate: (object) => schemaErrors(object, schema),
        },
        mergeRules: mergeRulesOfSchema(schema),
        ...(subresources.scale === undefined ? {} : { scale: scalePaths(asObject(subresources.scale)) }),
        printerColumns: printerColumnsOf(version),
      });
    });
}

function scalePaths(scale: JsonObject): NonNullable<Resource["scale"]> {
  const path = (text: string) => text.split(".").slice(1);
  const selector = asText(scale.labelSelectorPath);
  return {
    spec: path(asText(scale.specReplicasPath)),
    status: path(asText(scale.statusReplicasPath)),
    ...(selector === "" ? {} : { selector: path(selector) }),
  };
}

function printerColumnsOf(version: JsonObject): PrinterColumn[] {
  const columns = asList(version.additionalPrinterColumns).map(asObject);
  if (columns.length === 0) {
    const age = { name: "Age", type: "date", format: "", description: "", priority: 0, jsonPath: ".metadata.creationTimestamp" };
    return [age];
  }
  return columns.map((column) => ({
    name: asText(column.name),
    type: asText(column.type),
    format: asText(column.format),
    description: asText(column.description),
    priority: Number(column.priority ?? 0),
    jsonPath: asText(column.jsonPath),
  }));
}
