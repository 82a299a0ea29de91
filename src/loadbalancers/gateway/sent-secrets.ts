/** Secrets of log-ins that were sent to AWS for a Gateway: one configuration of a rule may be used by several Gateways. */
import type { SecretUser } from "../followed-secrets.ts";
import type { ListenerRuleView } from "./config.ts";
import type { GatewayContext } from "./context.ts";
import type { LogInOfRule } from "./load.ts";
import type { SeenGateway } from "./report.ts";
import { keyOf } from "./view.ts";

export const secretKeyOf = ({ rule: { namespace }, secret: name }: LogInOfRule) => keyOf({ namespace, name });

export function secretUser({ namespace, name, uid }: ListenerRuleView, { view }: SeenGateway): SecretUser {
  return { namespace, name: `${name} for ${keyOf(view)}`, uid };
}

const recordKey = (rule: ListenerRuleView, secret: string) => `${keyOf(rule)}/${secret}`;

/** Digests by the names of Secrets, as they are recorded on a Gateway. */
export function recordedSecrets(rule: ListenerRuleView, { sentSecrets }: SeenGateway): Readonly<Record<string, string>> {
  const prefix = recordKey(rule, "");
  const own = Object.entries(sentSecrets).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(own.map(([key, digest]) => [key.slice(prefix.length), digest]));
}

/** What AWS has now is written down, as it never tells. False: the Gateway has changed since it was seen. */
export async function recordSecrets(
  gateway: SeenGateway,
  logIns: readonly LogInOfRule[],
  { secrets, report }: Pick<GatewayContext, "secrets" | "report">,
  signal: AbortSignal,
): Promise<boolean> {
  const pairs = logIns.flatMap(({ rule }) =>
    Object.entries(secrets.markSent(keyOf(secretUser(rule, gateway)))).map(([name, digest]) => [recordKey(rule, name), digest] as const),
  );
  return report.recordSecrets(gateway, Object.fromEntries(pairs), signal);
}
