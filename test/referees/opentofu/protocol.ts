/** The service that OpenTofu calls a provider by, protocol version 5: what of it the stand-in answers, by name and number. */
const value = { type: "DynamicValue", id: 0 };
const diagnostics = { rule: "repeated", type: "Diagnostic", id: 0 };
const at = <T extends { readonly id: number }>(field: T, id: number) => ({ ...field, id });
const text = (id: number) => ({ type: "string", id });
const bytes = (id: number) => ({ type: "bytes", id });
const flag = (id: number) => ({ type: "bool", id });

/** `GetSchema` takes and gives messages of this name and so on. */
function message(name: string, request: object, response: object) {
  return { [`${name}Request`]: { fields: request }, [`${name}Response`]: { fields: response } };
}

const calls = {
  ...message(
    "GetSchema",
    {},
    {
      provider: { type: "Schema", id: 1 },
      resource_schemas: { keyType: "string", type: "Schema", id: 2 },
      data_source_schemas: { keyType: "string", type: "Schema", id: 3 },
      diagnostics: at(diagnostics, 4),
    },
  ),
  ...message("PrepareProviderConfig", { config: at(value, 1) }, { prepared_config: at(value, 1), diagnostics: at(diagnostics, 2) }),
  ...message("ValidateResourceTypeConfig", { type_name: text(1), config: at(value, 2) }, { diagnostics: at(diagnostics, 1) }),
  ...message("ValidateDataSourceConfig", { type_name: text(1), config: at(value, 2) }, { diagnostics: at(diagnostics, 1) }),
  ...message(
    "UpgradeResourceState",
    { type_name: text(1), version: { type: "int64", id: 2 }, raw_state: { type: "RawState", id: 3 } },
    { upgraded_state: at(value, 1), diagnostics: at(diagnostics, 2) },
  ),
  ...message("Configure", { terraform_version: text(1), config: at(value, 2) }, { diagnostics: at(diagnostics, 1) }),
  ...message(
    "ReadResource",
    { type_name: text(1), current_state: at(value, 2) },
    { new_state: at(value, 1), diagnostics: at(diagnostics, 2) },
  ),
  ...message(
    "PlanResourceChange",
    { type_name: text(1), prior_state: at(value, 2), proposed_new_state: at(value, 3), config: at(value, 4) },
    {
      planned_state: at(value, 1),
      requires_replace: { rule: "repeated", type: "AttributePath", id: 2 },
      diagnostics: at(diagnostics, 4),
      legacy_type_system: flag(5),
    },
  ),
  ...message(
    "ApplyResourceChange",
    { type_name: text(1), prior_state: at(value, 2), planned_state: at(value, 3), config: at(value, 4) },
    { new_state: at(value, 1), diagnostics: at(diagnostics, 3), legacy_type_system: flag(4) },
  ),
  ...message("ReadDataSource", { type_name: text(1), config: at(value, 2) }, { state: at(value, 1), diagnostics: at(diagnostics, 2) }),
  ...message("Stop", {}, { Error: text(1) }),
};

const methods = [
  "GetSchema",
  "PrepareProviderConfig",
  "ValidateResourceTypeConfig",
  "ValidateDataSourceConfig",
  "UpgradeResourceState",
  "Configure",
  "ReadResource",
  "PlanResourceChange",
  "ApplyResourceChange",
  "ReadDataSource",
  "Stop",
] as const;

/** The name of one call. */
export type MethodName = (typeof methods)[number];

/** In the form that `fromJSON` of the proto loader takes. */
export const protocol = {
  nested: {
    tfplugin5: {
      nested: {
        DynamicValue: { fields: { msgpack: bytes(1), json: bytes(2) } },
        Diagnostic: { fields: { severity: { type: "int32", id: 1 }, summary: text(2), detail: text(3) } },
        AttributePath: {
          fields: { steps: { rule: "repeated", type: "Step", id: 1 } },
          nested: { Step: { fields: { attribute_name: text(1) } } },
        },
        RawState: { fields: { json: bytes(1) } },
        Schema: { fields: { version: { type: "int64", id: 1 }, block: { type: "Block", id: 2 } } },
        Block: {
          fields: {
            version: { type: "int64", id: 1 },
            attributes: { rule: "repeated", type: "Attribute", id: 2 },
            block_types: { rule: "repeated", type: "NestedBlock", id: 3 },
          },
        },
        Attribute: {
          fields: { name: text(1), type: bytes(2), required: flag(4), optional: flag(5), computed: flag(6), sensitive: flag(7) },
        },
        NestedBlock: { fields: { type_name: text(1), block: { type: "Block", id: 2 }, nesting: { type: "int32", id: 3 } } },
        ...calls,
        Provider: {
          methods: Object.fromEntries(methods.map((name) => [name, { requestType: `${name}Request`, responseType: `${name}Response` }])),
        },
      },
    },
  },
};
