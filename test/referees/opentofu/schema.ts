/** What arguments and attributes the types of a provider have, as `extract-schema.ts` writes it. */

/** A type as the plugin protocol spells it in JSON. */
export type ValueType =
  | "string"
  | "number"
  | "bool"
  | readonly ["list" | "set" | "map", ValueType]
  | readonly ["object", Readonly<Record<string, ValueType>>];

export interface AttributeSchema {
  readonly type: ValueType;
  readonly use: "required" | "optional" | "computed";
}

export interface BlockSchema {
  readonly attributes: Readonly<Record<string, AttributeSchema>>;
  readonly blocks: Readonly<Record<string, { readonly nesting: "list" | "set" | "single"; readonly block: BlockSchema }>>;
}

export interface ProviderSchema {
  /** The version of the real provider. */
  readonly provider: string;
  /** The package that it was read from. */
  readonly source: string;
  readonly configuration: BlockSchema;
  readonly resources: Readonly<Record<string, BlockSchema>>;
  readonly dataSources: Readonly<Record<string, BlockSchema>>;
}
