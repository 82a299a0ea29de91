/** Listeners of load balancers of the second generation: their rules, further certificates and attributes, as AWS tells of them. */
import type { Rule } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "./ask.ts";
import { keyed, markedPages, pageSize, unlessGone } from "./balancer-reads.ts";
import type { Caller } from "./caller.ts";
import { describeListenerAttributes, describeListenerCertificates, describeRules } from "./elbv2-actions.ts";

export class Listeners {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** All of a listener, the default one too. */
  async rules(listener: string, ask: Ask): Promise<readonly Rule[]> {
    const rules = await unlessGone(() =>
      markedPages(async (Marker) => {
        const answer = await this.#caller.call(describeRules, { ListenerArn: listener, PageSize: pageSize, Marker }, ask);
        return { items: answer.Rules ?? [], next: answer.NextMarker };
      }),
    );
    return rules ?? [];
  }

  /** ARNs of the certificates beside the default one. */
  async furtherCertificates(listener: string, ask: Ask): Promise<readonly string[]> {
    const certificates = await unlessGone(() =>
      markedPages(async (Marker) => {
        const answer = await this.#caller.call(describeListenerCertificates, { ListenerArn: listener, PageSize: pageSize, Marker }, ask);
        return { items: answer.Certificates ?? [], next: answer.NextMarker };
      }),
    );
    return (certificates ?? []).flatMap(({ CertificateArn, IsDefault }) => (CertificateArn && !IsDefault ? [CertificateArn] : []));
  }

  async attributes(listener: string, ask: Ask): Promise<Readonly<Record<string, string>>> {
    const answer = await unlessGone(() => this.#caller.call(describeListenerAttributes, { ListenerArn: listener }, ask));
    return keyed(answer?.Attributes);
  }
}
