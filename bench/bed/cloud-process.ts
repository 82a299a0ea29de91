/**
 * The simulated AWS of one run, in a process of its own: its work is not counted as anybody's, and its event loop is not
 * held up by what measures. Ends when its owner does.
 */
import { realWorld } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { SettingsChange } from "../../src/sandbox/cloud/controls/controls.ts";
import { terminate } from "../../src/sandbox/cloud/ec2/instance-lifecycle.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import type { ClassicLoadBalancer } from "../../src/sandbox/cloud/elb/state.ts";
import type { Listener, LoadBalancer, Target } from "../../src/sandbox/cloud/elbv2/state.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";

/** What the owner asks. */
export type Question =
  | { readonly kind: "open"; readonly region: string; readonly clusterId: string; readonly settings: SettingsChange }
  | { readonly kind: "launch"; readonly count: number }
  | { readonly kind: "terminate"; readonly id: string }
  | { readonly kind: "look"; readonly instanceId?: string; readonly port?: number };

/** What the owner is told, by kind of question. */
export interface Answers {
  readonly open: { readonly url: string; readonly network: Network };
  readonly launch: readonly Machine[];
  readonly terminate: undefined;
  readonly look: Look;
}

/** An instance, as far as a Node tells of it. */
export interface Machine {
  readonly id: string;
  readonly zone: string;
  readonly name: string;
  readonly address: string;
}

/** What there is at this moment. */
export interface Look {
  readonly loadBalancers: number;
  readonly securityGroups: number;
  /** Load balancers with a listener on the port asked for. */
  readonly onPort: number;
  /** Load balancers that send the instance asked for traffic: classic ones, and target groups. */
  readonly registered: number;
  /** Routes to instances. */
  readonly routes: number;
}

if (import.meta.main) answerQuestions();

function answerQuestions(): void {
  let opened: { readonly cloud: Cloud; readonly network: Network } | undefined;
  process.on("disconnect", () => process.exit());
  process.on("message", async ({ id, question }: { id: number; question: Question }) => {
    try {
      if (question.kind === "open") {
        const { region, clusterId, settings } = question;
        const cloud = createCloud({ world: realWorld(), region, settings });
        const network = standardNetwork(cloud, { clusterId });
        opened = { cloud, network };
        const { url } = await serve(cloud);
        process.send?.({ id, answer: { url, network } });
      } else {
        process.send?.({ id, answer: answer(opened!.cloud, opened!.network, question) });
      }
    } catch (error) {
      process.send?.({ id, failure: String(error) });
    }
  });
}

function answer(cloud: Cloud, network: Network, question: Exclude<Question, { kind: "open" }>): unknown {
  const { ec2 } = cloud.account;
  switch (question.kind) {
    case "launch":
      return launchNodes(cloud, network, question.count).map(({ id }) => machine(cloud, ec2.instances.update(id, { state: "running" })));
    case "terminate":
      terminate(ec2, ec2.instances.get(question.id)!);
      return undefined;
    case "look":
      cloud.account.time.settle();
      return look(cloud, question);
  }
}

function machine(cloud: Cloud, { id, zone, privateDnsName: name, interfaceIds }: Instance): Machine {
  const [address = ""] = cloud.account.ec2.interfaces.get(interfaceIds[0]!)?.privateAddresses ?? [];
  return { id, zone, name, address };
}

function look({ account }: Cloud, { instanceId, port }: Extract<Question, { kind: "look" }>): Look {
  const classics = account.store.table<ClassicLoadBalancer>("elb/load-balancers").values();
  const networks = account.store.table<LoadBalancer>("elbv2/load-balancers").values();
  const listeners = account.store.table<Listener>("elbv2/listeners").values();
  const targets = account.store.table<Target>("elbv2/targets").values();
  const routes = account.ec2.routeTables.values().flatMap((table) => table.routes);
  return {
    loadBalancers: classics.length + networks.length,
    securityGroups: account.ec2.securityGroups.size,
    onPort:
      classics.filter((one) => one.listeners.some((listener) => listener.port === port)).length +
      listeners.filter((listener) => listener.port === port).length,
    registered:
      classics.filter((one) => one.instances.some(({ id }) => id === instanceId)).length +
      targets.filter((target) => target.id === instanceId && target.drainingSince === undefined).length,
    routes: routes.filter(({ target }) => target.kind === "interface").length,
  };
}
