/** Posts interruptions to where a user wants to hear of them. Whether that works changes nothing about the drain. */
import type { Host } from "../runtime/host.ts";
import type { Transport } from "../runtime/http.ts";
import { messageOf } from "../runtime/message-of.ts";
import { wholeAnswer } from "../runtime/whole-answer.ts";
import { sleep } from "../runtime/world.ts";
import { eventKinds, goTime } from "./event.ts";
import type { Annotations } from "./event-annotations.ts";
import type { NodeState } from "./node-states.ts";
import type { PlannedEvent } from "./plan.ts";
import { readTemplate, type Template } from "./template.ts";

/** What a user says about the webhook. */
export interface WebhookSettings {
  readonly url: string;
  readonly headers: string;
  readonly template: string;
  /** Wins over the template, and is read anew for every post. */
  readonly templateFile: string;
}

/** The webhook cannot work as it is configured. */
export class WebhookInvalid extends Error {
  override readonly name = "WebhookInvalid";
}

const limitMs = 5_000;
const tries = 3;
const pauseMs = 1_000;

const fields = [
  ...["EventID", "Kind", "Monitor", "Description", "State", "AutoScalingGroupName", "NodeName", "NodeLabels", "Pods", "InstanceID"],
  ...["ProviderID", "InstanceType", "IsManaged", "StartTime", "EndTime", "NodeProcessed", "InProgress", "AccountId", "InstanceLifeCycle"],
  ...["PublicHostname", "PublicIP", "LocalHostname", "LocalIP", "AvailabilityZone", "Region"],
] as const;

/** Reads and checks what is configured, and gives the function that posts. `own` is what is known of the machine that this process runs on. */
export async function openWebhook(host: Host, send: Transport, settings: WebhookSettings, own: () => Annotations = () => ({})) {
  if (!URL.canParse(settings.url)) throw new WebhookInvalid("webhook-url is not a URL");
  const url = new URL(settings.url);
  const headers = headersOf(settings.headers);
  const load = async (): Promise<Template> => {
    const { templateFile, template } = settings;
    const source = templateFile === "" ? template : Buffer.from(await host.world.files.read(templateFile)).toString("utf8");
    return readTemplate(source, fields);
  };
  await load().catch((cause: unknown) => {
    throw new WebhookInvalid(`the webhook template cannot be used: ${messageOf(cause)}`, { cause });
  });
  return async (node: NodeState, event: PlannedEvent, signal: AbortSignal, pods: readonly string[] = []): Promise<void> => {
    const { clock } = host.world;
    for (let tried = 1; ; tried++) {
      try {
        const body = (await load())(dataOf(node, event, pods, own()));
        const request = { method: "POST", url, headers, body };
        const { status } = await wholeAnswer(send, request, { clock, limitMs, what: "webhook", signal });
        if (status >= 200 && status < 300) {
          host.log.info("Webhook Success: Notification Sent!", { "node-name": node.name });
          return;
        }
        host.log.warn("Webhook Error: Received Non-Successful Response", { status_code: status, "node-name": node.name });
        if (status < 500 || tried === tries) return;
      } catch (error) {
        signal.throwIfAborted();
        // The URL may carry a token: of what went wrong only the kind is said.
        host.log.warn("Webhook Error: Client Request Failed", { error: (error as Error).name, "node-name": node.name });
        if (tried === tries) return;
      }
      await sleep(clock, pauseMs * tried, signal);
    }
  };
}

function headersOf(text: string): Readonly<Record<string, string>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new WebhookInvalid("webhook-headers is not JSON", { cause });
  }
  const entries = Object.entries(typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? parsed : { "": 0 });
  const wrong = entries.find(([name, value]) => name === "" || typeof value !== "string");
  if (wrong !== undefined) throw new WebhookInvalid(`webhook-headers must be an object of texts; "${wrong[0]}" is not`);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value as string]));
}

/** What templates can use, in the names of the reference. Of a machine that is not this process's own the Node tells. */
function dataOf(node: NodeState, event: PlannedEvent, pods: readonly string[], own: Annotations): Readonly<Record<string, unknown>> {
  const address = (type: string) => node.addresses.find((each) => each.type === type)?.address ?? "";
  return {
    EventID: event.id,
    Kind: eventKinds[event.kind].name,
    Monitor: event.id.includes("-event-") || event.hook ? "SQS_MONITOR" : "",
    Description: event.description,
    State: "",
    AutoScalingGroupName: event.hook?.group ?? event.group ?? "",
    NodeName: node.name,
    NodeLabels: node.labels,
    Pods: pods,
    InstanceID: node.instanceId,
    ProviderID: "",
    InstanceType: node.labels["node.kubernetes.io/instance-type"] ?? "",
    IsManaged: true,
    StartTime: goTime(event.startTime),
    EndTime: event.deadline === undefined ? "" : goTime(event.deadline),
    NodeProcessed: true,
    InProgress: true,
    AccountId: own["account-id"] ?? "",
    InstanceLifeCycle: own["instance-life-cycle"] ?? "",
    PublicHostname: own["public-hostname"] ?? address("ExternalDNS"),
    PublicIP: own["public-ipv4"] ?? address("ExternalIP"),
    LocalHostname: own["local-hostname"] ?? node.name,
    LocalIP: address("InternalIP"),
    AvailabilityZone: node.labels["topology.kubernetes.io/zone"] ?? "",
    Region: node.labels["topology.kubernetes.io/region"] ?? "",
  };
}
