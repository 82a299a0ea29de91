/** The stand-in provider as a process sees it: a gRPC service on a socket, to which OpenTofu attaches. */
import { Server, ServerCredentials, type ServerUnaryCall, type ServiceDefinition, type sendUnaryData } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import { decode, encode, type Value } from "./msgpack.ts";
import { completed, type Fields, isFilled, planned } from "./plan.ts";
import { type MethodName, protocol } from "./protocol.ts";
import type { BlockSchema, ProviderSchema } from "./schema.ts";

/** What the stand-in knows of a type besides its schema. */
export interface ResourceType {
  /** Arguments that are what the configuration says, also when it says nothing; the provider gives every other one a value. */
  readonly plain?: readonly string[];
  /** Arguments that cannot be changed in place. */
  readonly fixed?: readonly string[];
  /** Arguments whose change gives computed attributes new values. */
  readonly affects?: Readonly<Record<string, readonly string[]>>;
  create(wanted: Fields): Promise<Fields>;
  /** Undefined: it is gone. */
  read(state: Fields): Promise<Fields | undefined>;
  update?(before: Fields, wanted: Fields): Promise<Fields>;
  delete(state: Fields): Promise<void>;
}

export type DataSource = (config: Fields) => Promise<Fields>;

export interface Provider {
  readonly schema: ProviderSchema;
  readonly resources: Readonly<Record<string, ResourceType>>;
  readonly dataSources: Readonly<Record<string, DataSource>>;
}

export interface AttachedProvider {
  /** What OpenTofu must find in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): void;
}

interface DynamicValue {
  readonly msgpack: Uint8Array;
}

type Request = Readonly<Record<"config" | "current_state" | "prior_state" | "planned_state" | "proposed_new_state", DynamicValue>> & {
  readonly type_name: string;
  readonly raw_state: { readonly json: Uint8Array };
};

/** Serves the provider on a unix socket at this path. */
export async function attachProvider(provider: Provider, path: string): Promise<AttachedProvider> {
  const definition = fromJSON(protocol as Parameters<typeof fromJSON>[0], { keepCase: true, defaults: true })["tfplugin5.Provider"];
  const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  const answers = answersOf(provider);
  const handlers = Object.entries(answers).map(([name, answer]) => [
    name,
    (call: ServerUnaryCall<Request, object>, reply: sendUnaryData<object>) => {
      answer(call.request).then(
        (response) => reply(null, response),
        (error: Error) =>
          reply(null, { ...failed(call.request), diagnostics: [{ severity: 1, summary: error.message, detail: error.stack }] }),
      );
    },
  ]);
  server.addService(definition as ServiceDefinition, Object.fromEntries(handlers) as Record<string, never>);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });
  const attach = {
    "hashicorp/aws": { Protocol: "grpc", ProtocolVersion: 5, Pid: process.pid, Test: true, Addr: { Network: "unix", String: path } },
  };
  return { environment: { TF_REATTACH_PROVIDERS: JSON.stringify(attach) }, stop: () => server.forceShutdown() };
}

/** A change that failed leaves what was there; a resource that was not made stays unmade. */
function failed({ prior_state }: Request): object {
  return prior_state === null || prior_state === undefined ? {} : { new_state: prior_state };
}

function answersOf({ schema, resources, dataSources }: Provider): Readonly<Record<MethodName, (request: Request) => Promise<object>>> {
  const typeOf = (name: string): [ResourceType, BlockSchema] => {
    const [type, block] = [resources[name], schema.resources[name]];
    if (type === undefined || block === undefined) throw new Error(`the stand-in provider has no ${name}`);
    return [type, block];
  };
  const blockOf = (name: string) => schema.resources[name]!;
  return {
    GetSchema: async () => ({
      provider: { version: 0, block: wireBlock(schema.configuration) },
      resource_schemas: mapped(schema.resources, (block, name) => ({ version: 0, block: wireBlock(block, resources[name]?.plain) })),
      data_source_schemas: mapped(schema.dataSources, (block) => ({ version: 0, block: wireBlock(block) })),
    }),
    PrepareProviderConfig: async ({ config }) => ({ prepared_config: config }),
    ValidateResourceTypeConfig: async () => ({}),
    ValidateDataSourceConfig: async () => ({}),
    UpgradeResourceState: async ({ type_name, raw_state }) => {
      const state = JSON.parse(Buffer.from(raw_state.json).toString()) as Fields;
      return { upgraded_state: packed(completed(blockOf(type_name), state)) };
    },
    Configure: async () => ({}),
    ReadResource: async ({ type_name, current_state }) => {
      const [type, block] = typeOf(type_name);
      const state = fields(current_state)!;
      const seen = await type.read(state);
      return { new_state: packed(seen === undefined ? null : completed(block, { ...state, ...seen })) };
    },
    PlanResourceChange: async ({ type_name, prior_state, proposed_new_state, config }) => {
      const [type, block] = typeOf(type_name);
      const [prior, proposed] = [fields(prior_state), fields(proposed_new_state)];
      if (proposed === null) return { planned_state: packed(null) };
      const plan = planned({ block, type, prior, proposed, config: fields(config)! });
      return {
        planned_state: packed(plan.state),
        requires_replace: plan.replace.map((name) => ({ steps: [{ attribute_name: name }] })),
        legacy_type_system: true,
      };
    },
    ApplyResourceChange: async ({ type_name, prior_state, planned_state }) => {
      const [type, block] = typeOf(type_name);
      const [prior, wanted] = [fields(prior_state), fields(planned_state)];
      if (wanted === null) {
        await type.delete(prior!);
        return { new_state: packed(null) };
      }
      const made = prior === null ? await type.create(wanted) : await updated(type, type_name, prior, wanted);
      return { new_state: packed(completed(block, { ...wanted, ...made })), legacy_type_system: true };
    },
    ReadDataSource: async ({ type_name, config }) => {
      const source = dataSources[type_name];
      if (source === undefined) throw new Error(`the stand-in provider has no data source ${type_name}`);
      const asked = fields(config)!;
      return { state: packed(completed(schema.dataSources[type_name]!, { ...asked, ...(await source(asked)) })) };
    },
    Stop: async () => ({}),
  };
}

function updated(type: ResourceType, name: string, prior: Fields, wanted: Fields): Promise<Fields> {
  if (type.update === undefined) throw new Error(`${name} cannot be changed in place`);
  return type.update(prior, wanted);
}

const nestings = { single: 1, list: 2, set: 3 } as const;

function wireBlock({ attributes, blocks }: BlockSchema, plain: readonly string[] = []): object {
  return {
    version: 0,
    attributes: Object.entries(attributes).map(([name, { type, use }]) => ({
      name,
      type: Buffer.from(JSON.stringify(type)),
      required: use === "required",
      optional: use === "optional",
      computed: isFilled(name, use, plain),
    })),
    block_types: Object.entries(blocks).map(([name, { nesting, block }]) => ({
      type_name: name,
      block: wireBlock(block, nesting === "single" ? Object.keys(block.attributes) : []),
      nesting: nestings[nesting],
    })),
  };
}

function fields({ msgpack }: DynamicValue): Fields | null {
  return decode(msgpack) as Fields | null;
}

function packed(value: Value): object {
  return { msgpack: encode(value) };
}

function mapped<T, U>(record: Readonly<Record<string, T>>, change: (value: T, name: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}
