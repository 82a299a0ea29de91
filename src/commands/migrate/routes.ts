/** The HTTPRoutes of a Gateway that takes the place of Ingresses, and the configurations of their rules. Pure. */

import { sortedJson } from "../../loadbalancers/elbv2/actions.ts";
import type { ApiFilter } from "../../loadbalancers/gateway/api.ts";
import type { ListenerRuleSettings } from "../../loadbalancers/gateway/config.ts";
import { extensionGroup, extensionKind } from "../../loadbalancers/gateway/filters.ts";
import type { MemberOptions } from "../../loadbalancers/ingress/member.ts";
import type { ApplicationListener } from "../../loadbalancers/model.ts";
import { type HostRules, hostRules, type RouteRule } from "./route-rules.ts";
import type { RouteUse } from "./target-groups.ts";
import { type Lose, type Manifest, membersOf, type TranslationInput } from "./translation.ts";

export interface Routes {
  readonly manifests: readonly Manifest[];
  readonly uses: readonly RouteUse[];
}

export const sectionOf = ({ protocol, port }: Pick<ApplicationListener, "protocol" | "port">) => `${protocol.toLowerCase()}-${port}`;

export function httpRoutes(gateway: { readonly namespace: string; readonly name: string }, input: TranslationInput, lose: Lose): Routes {
  const all = input.desire.model.listeners.flatMap((listener) => hostRules(listener, input, lose));
  const drafts = byHosts(byListeners(all)).flatMap(inPieces);
  const book = new ConfigurationBook();
  const routes = drafts.map((draft) => {
    const { namespace } = draft.member.member.ingress;
    const name = nameOf(draft, drafts, input);
    const route: Manifest = {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: { name, namespace },
      spec: {
        parentRefs: draft.listeners.map((listener) => ({
          ...(namespace !== gateway.namespace && { namespace: gateway.namespace }),
          name: gateway.name,
          sectionName: sectionOf(listener),
        })),
        ...(draft.hostnames.length > 0 && { hostnames: draft.hostnames }),
        rules: draft.rules.map((rule) => written(rule, draft.member, book)),
      },
    };
    return { route, use: { member: draft.member, namespace, name, groups: [...new Set(draft.rules.flatMap(({ groups }) => groups))] } };
  });
  return { manifests: [...book.manifests(), ...routes.map(({ route }) => route)], uses: routes.map(({ use }) => use) };
}

interface Draft {
  readonly member: MemberOptions;
  readonly hostnames: readonly string[];
  readonly listeners: readonly ApplicationListener[];
  readonly rules: readonly RouteRule[];
  /** Which piece it is of one that the API takes in pieces only. */
  readonly piece?: number;
}

/** One for all listeners on which the same rules hold. What comes before an answer is left out by HTTP listeners themselves. */
function byListeners(all: readonly HostRules[]): readonly Draft[] {
  const drafts = new Map<string, Draft>();
  for (const { member, hostname, listener, rules } of all) {
    const key = sortedJson([member.key, hostname, rules.map(({ front: _, ...rest }) => rest)]);
    const known = drafts.get(key);
    const isSecure = listener.protocol === "HTTPS";
    drafts.set(key, {
      member,
      hostnames: hostname === "" ? [] : [hostname],
      listeners: [...(known?.listeners ?? []), listener],
      rules: isSecure || known === undefined ? rules : known.rules,
    });
  }
  return [...drafts.values()];
}

const maxHostnames = 16;

/** One for all host names for which the same rules hold on the same listeners. */
function byHosts(drafts: readonly Draft[]): readonly Draft[] {
  const merged: Draft[] = [];
  for (const draft of drafts) {
    const textOf = ({ member, listeners, rules }: Draft) => sortedJson([member.key, listeners.map(sectionOf), rules]);
    const at = merged.findIndex(
      (each) =>
        each.hostnames.length > 0 && each.hostnames.length < maxHostnames && draft.hostnames.length > 0 && textOf(each) === textOf(draft),
    );
    const known = merged[at];
    if (known === undefined) merged.push(draft);
    else merged[at] = { ...known, hostnames: [...known.hostnames, ...draft.hostnames] };
  }
  return merged;
}

const maxRules = 16;

/** A route of the API has a limited number of rules. */
function inPieces(draft: Draft): readonly Draft[] {
  const count = Math.ceil(draft.rules.length / maxRules);
  if (count <= 1) return [draft];
  return Array.from({ length: count }, (_, i) => ({ ...draft, rules: draft.rules.slice(i * maxRules, (i + 1) * maxRules), piece: i + 1 }));
}

/** Among routes of one age names decide which rules go first: in a group they begin with the place of their Ingress. */
function nameOf({ member, hostnames, listeners, piece }: Draft, all: readonly Draft[], input: TranslationInput): string {
  const members = membersOf(input);
  const digits = (number: number) => String(number).padStart(2, "0");
  const place = members.length > 1 ? [`r${digits(members.indexOf(member) + 1)}`] : [];
  const [host] = hostnames;
  const ofMember = all.filter((each) => each.member === member && each.piece === piece);
  const sameHost = ofMember.filter((each) => each.hostnames[0] === host);
  const parts = [
    ...place,
    member.member.ingress.name,
    ...(host !== undefined && ofMember.length > sameHost.length ? [host.replace("*", "any")] : []),
    ...(sameHost.length > 1 ? listeners.map(sectionOf) : []),
    ...(piece === undefined ? [] : [digits(piece)]),
  ];
  return shortened(parts.join("-"), 253);
}

const shortened = (name: string, length: number) => name.slice(0, length).replace(/[^a-z0-9]+$/, "");

function written({ matches, filters, backendRefs, settings, front }: RouteRule, member: MemberOptions, book: ConfigurationBook): object {
  const whole: ListenerRuleSettings = { ...settings, ...(front.length > 0 && { actions: [...front, ...(settings?.actions ?? [])] }) };
  const isConfigured = Object.keys(whole).length > 0;
  const all: readonly ApiFilter[] = [
    ...filters,
    ...(isConfigured
      ? [{ type: "ExtensionRef", extensionRef: { group: extensionGroup, kind: extensionKind, name: book.nameOf(member, whole) } }]
      : []),
  ];
  return { matches, ...(all.length > 0 && { filters: all }), ...(backendRefs.length > 0 && { backendRefs }) };
}

/** ListenerRuleConfigurations, each once for all rules of an Ingress that say the same. */
class ConfigurationBook {
  readonly #known = new Map<string, Manifest>();
  readonly #counts = new Map<string, number>();

  nameOf({ key, member }: MemberOptions, spec: ListenerRuleSettings): string {
    const text = sortedJson([key, spec]);
    const known = this.#known.get(text);
    if (known) return known.metadata.name;
    const number = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, number);
    const { namespace, name: of } = member.ingress;
    const name = `${shortened(of, 240)}-${number}`;
    this.#known.set(text, { apiVersion: "gateway.k8s.aws/v1", kind: extensionKind, metadata: { name, namespace }, spec });
    return name;
  }

  manifests(): readonly Manifest[] {
    return [...this.#known.values()];
  }
}
