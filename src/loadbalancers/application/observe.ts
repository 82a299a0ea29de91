/** What AWS tells of an application load balancer: only what is managed is asked for, and what is asked for at once shares calls. */
import type { Listener, Rule } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "../../aws/ask.ts";
import { attributesOf } from "../elbv2/kind.ts";
import { observeMarkedGroups } from "../elbv2/marked.ts";
import type { Inventory } from "../inventory.ts";
import type { ObserveOptions } from "../kind.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import type { FoundApplication } from "./find.ts";
import { observeGuards } from "./guards.ts";
import type { SeenApplication, SeenLoadBalancer } from "./plan.ts";
import type { SeenListener } from "./plan-listeners.ts";
import type { SeenRule } from "./plan-rules.ts";

export function observeApplication(
  found: FoundApplication | undefined,
  options: ObserveOptions,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenApplication> {
  const ports = options.managed?.listenerAttributes ?? [];
  return observe(found, options, (arn) => observeListeners(arn, ports, inventory, ask), inventory, ask);
}

/** The same from lists alone, which all load balancers share. */
export function observeGlance(
  found: FoundApplication | undefined,
  options: ObserveOptions,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenApplication> {
  const { guards } = options.managed ?? {};
  const unread = { attributes: false, listenerAttributes: [], capacity: false, ...(guards && { guards }) };
  return observe(found, { ...options, targetGroupAttributes: false, managed: unread }, async () => [], inventory, ask);
}

async function observe(
  found: FoundApplication | undefined,
  options: ObserveOptions,
  listenersOf: (arn: string) => Promise<readonly SeenListener[]>,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenApplication> {
  const { owner } = options;
  const managedGuards = options.managed?.guards ?? [];
  const [loadBalancer, marked, guards] = await Promise.all([
    found && observeLoadBalancer(found, options, listenersOf, inventory, ask),
    observeMarkedGroups(options, () => ({}), inventory, ask),
    managedGuards.length > 0 ? observeGuards(found?.arn, managedGuards, inventory.cloud.protections, ask) : undefined,
  ]);
  const isForeignTag = (key: string) => owner.marks?.isForeign(key) ?? false;
  // Groups of load balancers belong to one that stands in front.
  const all = marked.filter(({ targetType }) => targetType !== "alb");
  // Of two that could stand for the same, the one that is in use does.
  const isUsed = ({ users = [] }: SeenTargetGroup) => found !== undefined && users.includes(found.arn);
  const targetGroups = [...all.filter(isUsed), ...all.filter((group) => !isUsed(group))];
  return { kind: "application", ...(loadBalancer && { loadBalancer }), targetGroups, ...(guards && { guards }), isForeignTag };
}

async function observeLoadBalancer(
  { name, arn, subnets, securityGroups, addressType, ipv4IpamPool }: FoundApplication,
  options: ObserveOptions,
  listenersOf: (arn: string) => Promise<readonly SeenListener[]>,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenLoadBalancer> {
  const { loadBalancers } = inventory.cloud;
  const { managed } = options;
  const [tags, listeners, attributes, capacity] = await Promise.all([
    inventory.tags(arn, ask),
    listenersOf(arn),
    managed?.attributes ? attributesOf({ name, arn }, options, inventory, ask) : {},
    managed?.capacity ? loadBalancers.capacity(arn, ask) : undefined,
  ]);
  return {
    arn,
    subnets,
    securityGroups,
    addressType,
    ...(ipv4IpamPool !== undefined && { ipv4IpamPool }),
    attributes,
    ...(capacity !== undefined && { capacity }),
    tags: tags ?? {},
    listeners,
  };
}

async function observeListeners(arn: string, withAttributes: readonly number[], inventory: Inventory, ask: Ask): Promise<SeenListener[]> {
  const { loadBalancers, listeners } = inventory.cloud;
  const found = await loadBalancers.listeners(arn, ask);
  return Promise.all(
    found.map(async (listener) => {
      const { ListenerArn = "", Port = 0, Protocol } = listener;
      const [tags, rules, furtherCertificates, attributes] = await Promise.all([
        inventory.tags(ListenerArn, ask),
        observeRules(ListenerArn, inventory, ask),
        Protocol === "HTTPS" ? listeners.furtherCertificates(ListenerArn, ask) : [],
        withAttributes.includes(Port) ? listeners.attributes(ListenerArn, ask) : {},
      ]);
      return { ...seeListener(listener), tags: tags ?? {}, rules, furtherCertificates, attributes };
    }),
  );
}

function seeListener(listener: Listener): Omit<SeenListener, "tags" | "rules" | "furtherCertificates" | "attributes"> {
  return {
    arn: listener.ListenerArn ?? "",
    port: listener.Port ?? 0,
    protocol: listener.Protocol ?? "",
    actions: listener.DefaultActions ?? [],
    certificate: listener.Certificates?.[0]?.CertificateArn,
    sslPolicy: listener.SslPolicy || undefined,
    mutualTls: listener.MutualAuthentication,
  };
}

async function observeRules(listener: string, inventory: Inventory, ask: Ask): Promise<SeenRule[]> {
  const rules = (await inventory.cloud.listeners.rules(listener, ask)).filter(({ IsDefault }) => !IsDefault);
  const tags = await Promise.all(rules.map(({ RuleArn = "" }) => inventory.tags(RuleArn, ask)));
  return rules.map((rule, i) => seeRule(rule, tags[i] ?? {}));
}

const seeRule = (rule: Rule, tags: SeenRule["tags"]): SeenRule => ({
  arn: rule.RuleArn ?? "",
  priority: Number(rule.Priority),
  actions: rule.Actions ?? [],
  conditions: rule.Conditions ?? [],
  transforms: rule.Transforms ?? [],
  tags,
});
