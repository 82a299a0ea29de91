/**
 * A script of exchanges with AWS, as data: each is one call of an SDK client. What an answer gives a name to, later inputs
 * refer to by `$name`, so that the same script can be held with two clouds that make up ids of their own.
 */

import { ACMClient } from "@aws-sdk/client-acm";
import { AutoScalingClient } from "@aws-sdk/client-auto-scaling";
import { EC2Client } from "@aws-sdk/client-ec2";
import { ElasticLoadBalancingClient } from "@aws-sdk/client-elastic-load-balancing";
import { ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { IAMClient } from "@aws-sdk/client-iam";
import { ResourceGroupsTaggingAPIClient } from "@aws-sdk/client-resource-groups-tagging-api";
import { ShieldClient } from "@aws-sdk/client-shield";
import { SQSClient } from "@aws-sdk/client-sqs";
import { WAFV2Client } from "@aws-sdk/client-wafv2";
import type { Credentials } from "../../../src/aws/credentials.ts";
import { clientConfig, type SdkClient } from "../../../src/aws/sdk/client.ts";
import { Client as EventsClient } from "../../../src/aws/sdk/events.ts";
import { awsSockets } from "../../../src/aws/sockets.ts";
import { realWorld } from "../../../src/runtime/world.ts";
import { pageMarks } from "./normal.ts";

export type ServiceName = "ec2" | "elb" | "elbv2" | "sqs" | "autoscaling" | "acm" | "wafv2" | "shield" | "tagging" | "events" | "iam";

/** One call: what it is about, what is asked, and which parts of the answer get names. */
export interface Exchange {
  /** A sentence, unique in the script. */
  readonly name: string;
  readonly service: ServiceName;
  readonly operation: string;
  readonly input: object;
  /** Name → path in the answer (`Vpc.VpcId`, `Instances.0.InstanceId`). */
  readonly keep: Readonly<Record<string, string>>;
  readonly command: (input: object) => object;
}

/** What came back: an answer, or a refusal. */
export type Answer = { readonly output: object } | { readonly error: Refusal };

export interface Refusal {
  readonly code: string;
  readonly status: number | undefined;
  readonly message: string;
}

/** The code of an exchange that could not be held, because an earlier one did not give what it refers to. */
export const notAsked = "(not asked)";

/** What one cloud said to the whole script, and the names its ids were given. */
export interface Transcript {
  readonly answers: readonly Answer[];
  readonly names: ReadonlyMap<string, string>;
}

/** Makes exchanges with one service: `ask(name, SomeCommand, input, keep)`. */
export function asker(service: ServiceName) {
  return <Input extends object>(
    name: string,
    Command: new (input: Input) => object,
    input: NoInfer<Input>,
    keep: Readonly<Record<string, string>> = {},
  ): Exchange => ({
    name,
    service,
    operation: Command.name.replace(/Command$/, ""),
    input,
    keep,
    // Inputs are filled in as plain data; that they have the command's shape was checked above, where they were written.
    command: (filled) => new Command(filled as Input),
  });
}

/** Holds the script, in order, with the AWS at this address. */
export async function hold(script: readonly Exchange[], endpoint: string): Promise<Transcript> {
  const clients = clientsOf(endpoint);
  const kept = new Map<string, string>();
  const names = new Map<string, string>();
  const answers: Answer[] = [];
  try {
    for (const exchange of script) {
      const answer = await answerOf(clients[exchange.service], exchange, kept);
      answers.push(answer);
      if (!("output" in answer)) continue;
      for (const [name, path] of Object.entries(exchange.keep)) {
        const value = at(answer.output, path);
        if (value === undefined) continue;
        kept.set(name, value);
        if (!pageMarks.has(path)) names.set(value, name);
      }
    }
  } finally {
    for (const client of Object.values(clients)) client.destroy();
  }
  return { answers, names };
}

/** What every client here has in common; their commands differ only in types. */
interface Sender {
  send(command: object): Promise<object>;
  destroy(): void;
}

function clientsOf(endpoint: string): Record<ServiceName, Sender> {
  const config = {
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "AKIAREFEREEREFEREE00", secretAccessKey: "referee" },
    // A server's failure is an answer too, and trying again would not change it.
    maxAttempts: 1,
  };
  return {
    ec2: new EC2Client(config) as unknown as Sender,
    elb: new ElasticLoadBalancingClient(config) as unknown as Sender,
    elbv2: new ElasticLoadBalancingV2Client(config) as unknown as Sender,
    iam: new IAMClient(config) as unknown as Sender,
    acm: new ACMClient(config) as unknown as Sender,
    wafv2: new WAFV2Client(config) as unknown as Sender,
    shield: new ShieldClient(config) as unknown as Sender,
    tagging: new ResourceGroupsTaggingAPIClient(config) as unknown as Sender,
    // It would else ask at the address that a queue's URL names.
    sqs: new SQSClient({ ...config, useQueueUrlAsEndpoint: false }) as unknown as Sender,
    autoscaling: new AutoScalingClient(config) as unknown as Sender,
    events: eventsClient(endpoint, config),
  };
}

/** The client of ours that borrows another service's, as the program makes it. */
function eventsClient(endpoint: string, { region, credentials }: { readonly region: string; readonly credentials: Credentials }): Sender {
  const world = realWorld();
  const sockets = awsSockets(world);
  const client = new EventsClient(
    clientConfig({
      region,
      endpoint: { url: endpoint, fips: false, dualStack: false, source: "the referee" },
      credentials: async () => credentials,
      transport: sockets.send,
      now: () => world.clock.now(),
      userAgent: ["referee", "0"],
    }),
  ) as unknown as SdkClient;
  return {
    send: (command) =>
      client.send(command, { attempt: { signal: new AbortController().signal, beforeSend() {}, sent: false } }) as Promise<object>,
    destroy: () => void sockets.close(),
  };
}

async function answerOf(client: Sender, { command, input }: Exchange, kept: ReadonlyMap<string, string>): Promise<Answer> {
  const missing = namesIn(input).filter((name) => !kept.has(name));
  if (missing.length > 0) return { error: { code: notAsked, status: undefined, message: "" } };
  try {
    const { $metadata: _, ...output } = (await client.send(command(filled(input, kept) as object))) as { $metadata: unknown };
    return { output };
  } catch (thrown) {
    const error = thrown as Error & { readonly $metadata?: { readonly httpStatusCode?: number } };
    const status = error.$metadata?.httpStatusCode;
    // A page of HTML in the place of an answer: the SDK complains of the page, which says nothing of AWS.
    if (status === 500) return { error: { code: "(server failure)", status, message: "" } };
    return { error: { code: error.name, status, message: error.message } };
  }
}

const reference = /\$(\w+)/g;

function namesIn(input: object): readonly string[] {
  return [...JSON.stringify(input).matchAll(reference)].map(([, name]) => name!);
}

/** The input with `$name` replaced by what was kept under that name. */
function filled(value: unknown, kept: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") {
    return value.replace(reference, (_, name: string) => kept.get(name)!);
  }
  if (Array.isArray(value)) return value.map((item) => filled(item, kept));
  if (value === null || typeof value !== "object" || value instanceof Date || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, kept)]));
}

function at(value: unknown, path: string): string | undefined {
  const found = path.split(".").reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], value);
  return typeof found === "string" ? found : undefined;
}
