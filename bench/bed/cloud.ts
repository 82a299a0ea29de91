/** The simulated AWS as whoever measures sees it: how slow it is, what it allows, what was asked of it, what there is in it. */
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SettingsChange } from "../../src/sandbox/cloud/controls/controls.ts";
import type { Counts } from "../../src/sandbox/cloud/controls/journal.ts";
import type { Bucket } from "../../src/sandbox/cloud/controls/settings.ts";
import type { Network } from "../../src/sandbox/cloud/network.ts";
import type { Answers, Look, Machine, Question } from "./cloud-process.ts";

export const region = "us-west-2";
export const clusterId = "bench";

/** How AWS behaves in a run. */
export interface CloudWish {
  readonly latencyMs: number;
  /** Without it nothing is ever refused for its rate. */
  readonly throttle: Bucket | undefined;
}

/** What AWS documents for the common actions of EC2, which differ by action and account. */
export const ec2Throttle: Bucket = { capacity: 100, refillPerSecond: 20 };

/** EC2 counts every action on its own. */
const limitedActions = [
  ...["AuthorizeSecurityGroupIngress", "CreateRoute", "CreateSecurityGroup", "CreateTags", "DeleteRoute", "DeleteSecurityGroup"],
  ...["DescribeAvailabilityZones", "DescribeInstanceTopology", "DescribeInstances", "DescribeNetworkInterfaces", "DescribeRouteTables"],
  ...["DescribeSecurityGroupRules", "DescribeSecurityGroups", "DescribeSubnets", "DescribeVpcs", "ModifyInstanceAttribute"],
  ...["ModifyNetworkInterfaceAttribute", "ReplaceRoute", "RevokeSecurityGroupIngress", "UpdateSecurityGroupRuleDescriptionsIngress"],
];

/** Quotas that an account of this size has had raised. */
const quotas: SettingsChange["quotas"] = {
  routesPerTable: 1000,
  rulesPerSecurityGroup: 1000,
  classicLoadBalancers: 200,
  networkLoadBalancers: 200,
  applicationLoadBalancers: 200,
};

/** Calls by action, whatever came of them, and how many were refused for their rate. */
export interface Calls {
  readonly byAction: Readonly<Record<string, number>>;
  readonly total: number;
  readonly throttled: number;
}

/** One account, until it is stopped. */
export class BenchCloud {
  readonly url: string;
  readonly network: Network;
  readonly #child: AskedChild;

  private constructor(child: AskedChild, { url, network }: Answers["open"]) {
    this.#child = child;
    this.url = url;
    this.network = network;
  }

  static async open({ latencyMs, throttle }: CloudWish): Promise<BenchCloud> {
    const child = new AskedChild();
    const buckets = throttle ? Object.fromEntries(limitedActions.map((action) => [`ec2:${action}`, throttle])) : {};
    const settings = { latency: { minMs: latencyMs, maxMs: latencyMs }, buckets, quotas };
    return new BenchCloud(child, await child.ask({ kind: "open", region, clusterId, settings }));
  }

  /** New instances of the cluster, running. */
  launch(count: number): Promise<readonly Machine[]> {
    return this.#child.ask({ kind: "launch", count });
  }

  terminate(id: string): Promise<void> {
    return this.#child.ask({ kind: "terminate", id });
  }

  look(about: { readonly instanceId?: string; readonly port?: number } = {}): Promise<Look> {
    return this.#child.ask({ kind: "look", ...about });
  }

  /** Since the counters were last set to zero. */
  async calls(): Promise<Calls> {
    const counts = (await (await fetch(`${this.url}/_fairlead/calls`)).json()) as Readonly<Record<string, Counts>>;
    const byAction = Object.fromEntries(Object.entries(counts).map(([action, results]) => [action, sum(Object.values(results))]));
    const throttled = Object.values(counts).map((results) =>
      sum(
        Object.keys(results)
          .filter(isThrottle)
          .map((code) => results[code] ?? 0),
      ),
    );
    return { byAction, total: sum(Object.values(byAction)), throttled: sum(throttled) };
  }

  async resetCalls(): Promise<void> {
    await fetch(`${this.url}/_fairlead/calls`, { method: "DELETE" });
  }

  /** Waits until nothing has been asked for so long; gives the moment of the last call seen. */
  async quiet(forMs: number): Promise<number> {
    let [total, lastAt] = [-1, performance.now()];
    while (performance.now() - lastAt < forMs) {
      const seen = (await this.calls()).total;
      if (seen !== total) [total, lastAt] = [seen, performance.now()];
      await pause(50);
    }
    return lastAt;
  }

  stop(): void {
    this.#child.stop();
  }
}

function isThrottle(code: string): boolean {
  return /throttl|RequestLimitExceeded/i.test(code);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** The process behind, asked one thing at a time. */
class AskedChild {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(answer: never): void; reject(error: Error): void }>();
  #asked = 0;

  constructor() {
    this.#child = fork(fileURLToPath(new URL("./cloud-process.ts", import.meta.url)), { execArgv: [] });
    this.#child.on("message", (message: { id: number; answer?: never; failure?: string }) => {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.failure === undefined) waiting?.resolve(message.answer as never);
      else waiting?.reject(new Error(`the simulated cloud: ${message.failure}`));
    });
    this.#child.on("exit", (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the simulated cloud has ended (${code})`));
    });
  }

  ask<Kind extends Question["kind"]>(question: Extract<Question, { kind: Kind }>): Promise<Answers[Kind]> {
    const id = this.#asked++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, question });
    });
  }

  stop(): void {
    this.#child.disconnect();
  }
}
