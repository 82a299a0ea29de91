/** Just enough of EC2 to test the kit against, in the process: instances, tags, zones, topology, and the faults a test asks for. */
import { Registry } from "prom-client";
import { openGate, type WriteGate } from "../../runtime/gate.ts";
import type { HttpRequest, HttpResponse, Transport } from "../../runtime/http.ts";
import { type Log, silentLog } from "../../runtime/log.ts";
import type { World } from "../../runtime/world.ts";
import { Clouds } from "../cloud.ts";
import { createTags, describeInstances } from "../ec2-actions.ts";
import { type AwsSettings, noSettings } from "../settings.ts";

export interface Call {
  readonly action: string;
  readonly parameters: URLSearchParams;
  readonly request: HttpRequest;
}

export interface SmallInstance {
  readonly id: string;
  readonly state?: string;
  readonly dnsName?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly padding?: string;
}

/** A fault: what to answer instead, or undefined to let the call through. */
export type Fault = (call: Call, count: number) => Promise<HttpResponse> | HttpResponse | undefined;

export class SmallEc2 {
  readonly calls: Call[] = [];
  readonly instances = new Map<string, SmallInstance>();
  fault: Fault = () => undefined;

  constructor(instances: readonly SmallInstance[] = []) {
    for (const instance of instances) this.instances.set(instance.id, instance);
  }

  readonly transport: Transport = async (request) => {
    const parameters = new URLSearchParams(String(request.body ?? ""));
    const call: Call = { action: parameters.get("Action") ?? "", parameters, request };
    this.calls.push(call);
    return (await this.fault(call, this.calls.length)) ?? this.#answer(call);
  };

  #answer({ action, parameters }: Call): HttpResponse {
    switch (action) {
      case "DescribeInstances":
        return this.#describe(parameters);
      case "CreateTags":
        return this.#tag(parameters);
      case "DescribeInstanceTopology":
        return xml(
          `<DescribeInstanceTopologyResponse><instanceSet>${all(parameters, "InstanceId.")
            .map(
              (id) => `<item><instanceId>${id}</instanceId><networkNodeSet><item>nn-1</item><item>nn-${id}</item></networkNodeSet></item>`,
            )
            .join("")}</instanceSet></DescribeInstanceTopologyResponse>`,
        );
      case "DescribeAvailabilityZones":
        return xml(
          "<DescribeAvailabilityZonesResponse><availabilityZoneInfo><item><zoneName>us-east-1a</zoneName><zoneId>use1-az6</zoneId><zoneType>availability-zone</zoneType></item></availabilityZoneInfo></DescribeAvailabilityZonesResponse>",
        );
      default:
        return failure(400, "InvalidAction", `The action ${action} is not valid for this web service.`);
    }
  }

  #describe(parameters: URLSearchParams): HttpResponse {
    const ids = all(parameters, "InstanceId.");
    const malformed = ids.find((id) => !/^i-[0-9a-f]{8,17}$/.test(id));
    if (malformed !== undefined) return failure(400, "InvalidInstanceID.Malformed", `Invalid id: "${malformed}"`);
    const unknown = ids.filter((id) => !this.instances.has(id));
    if (unknown.length === 1) return failure(400, "InvalidInstanceID.NotFound", `The instance ID '${unknown[0]}' does not exist`);
    if (unknown.length > 1) return failure(400, "InvalidInstanceID.NotFound", `The instance IDs '${unknown.join(", ")}' do not exist`);
    let found = ids.length === 0 ? [...this.instances.values()] : ids.map((id) => this.instances.get(id)!);
    if (parameters.get("Filter.1.Name") === "private-dns-name") {
      const names = all(parameters, "Filter.1.Value.");
      if (names.length > 200)
        return failure(400, "FilterLimitExceeded", "The maximum number of filter values specified on a single call is 200");
      found = found.filter(({ dnsName }) => dnsName !== undefined && names.includes(dnsName));
    }
    const items = found.map((instance) => `<item><instancesSet><item>${instanceXml(instance)}</item></instancesSet></item>`);
    return xml(`<DescribeInstancesResponse><reservationSet>${items.join("")}</reservationSet></DescribeInstancesResponse>`);
  }

  #tag(parameters: URLSearchParams): HttpResponse {
    const unknown = all(parameters, "ResourceId.").filter((id) => !this.instances.has(id));
    if (unknown.length > 0) return failure(400, "InvalidInstanceID.NotFound", `The instance ID '${unknown[0]}' does not exist`);
    return xml("<CreateTagsResponse><return>true</return></CreateTagsResponse>");
  }
}

/** A cloud in `us-east-1` over that EC2, with its SDK code loaded so that virtual time is enough. */
export async function cloudOver(
  ec2: { readonly transport: Transport },
  world: World,
  options: { readonly gate?: WriteGate; readonly log?: Log; readonly settings?: AwsSettings } = {},
) {
  const metrics = new Registry();
  const clouds = new Clouds({
    host: { world, log: options.log ?? silentLog, metrics },
    transport: ec2.transport,
    gate: options.gate ?? openGate(),
    settings: options.settings ?? { ...noSettings, region: "us-east-1" },
    version: "0.0.0-test",
  });
  const cloud = await clouds.home();
  await cloud.preload(describeInstances);
  await cloud.preload(createTags);
  return { clouds, cloud, metrics };
}

/** Keys in the environment, as most tests want them. */
export const testKeys = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "planted-secret-key" };

export function failure(status: number, code: string, message: string, headers: Record<string, string> = {}): HttpResponse {
  const body = `<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>r</RequestID></Response>`;
  return { status, headers: { "x-amzn-requestid": "request-1", ...headers }, body: bytes(body) };
}

export function xml(body: string): HttpResponse {
  return { status: 200, headers: { "x-amzn-requestid": "request-1" }, body: bytes(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`) };
}

/** The nth instance id of a test. */
export function instanceId(n: number): string {
  return `i-${n.toString(16).padStart(17, "0")}`;
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function all(parameters: URLSearchParams, prefix: string): string[] {
  return [...parameters].filter(([name]) => name.startsWith(prefix)).map(([, value]) => value);
}

function instanceXml({ id, state = "running", dnsName = "", tags = {}, padding = "" }: SmallInstance): string {
  const tagSet = Object.entries(tags).map(([key, value]) => `<item><key>${key}</key><value>${value}</value></item>`);
  return (
    `<instanceId>${id}</instanceId><instanceState><code>16</code><name>${state}</name></instanceState><instanceType>m5.large</instanceType>` +
    `<placement><availabilityZone>us-east-1a</availabilityZone></placement><privateDnsName>${dnsName}</privateDnsName>` +
    `<tagSet>${tagSet.join("")}</tagSet>${padding}`
  );
}
