/** What a person at the keyboard can do to the world. */
import { services } from "../kube/builtin.ts";
import type { Service } from "../kube/types.ts";
import type { Sandbox } from "./sandbox.ts";

export interface Action {
  readonly key: string;
  /** A word or two, for the last line. */
  readonly short: string;
  /** A sentence, for the help. */
  readonly long: string;
  /** Does it, to the chosen machine where it needs one, and says what it did. */
  run(machine: string | undefined): Promise<string>;
}

/** The actions that mean something to these controllers. */
export function actionsFor(sandbox: Sandbox): readonly Action[] {
  const { machines, replicas } = sandbox;
  const balances = sandbox.controllers.has("service-lb-controller");
  return [
    {
      key: "t",
      short: "throttle",
      long: "let AWS answer every call with a throttling error; again: let it answer",
      async run() {
        const on = !sandbox.picture().throttling;
        sandbox.throttle(on);
        return on ? "AWS throttles every call; press t again to let it answer" : "AWS answers again";
      },
    },
    {
      key: "s",
      short: "stop",
      long: "stop the chosen machine; a stopped one is started again",
      async run(id) {
        const machine = machines.list().find((other) => other.id === id);
        if (machine?.state === "running") {
          machines.stop(machine.id);
          return `stopping ${machine.id}`;
        }
        if (machine?.state === "stopped") {
          machines.start(machine.id);
          return `starting ${machine.id}`;
        }
        return `a machine that is ${machine?.state ?? "not there"} can be neither stopped nor started`;
      },
    },
    {
      key: "x",
      short: "terminate",
      long: "terminate the chosen machine",
      async run(id) {
        if (id === undefined) return "there is no machine to terminate";
        machines.terminate(id);
        return `terminating ${id}`;
      },
    },
    {
      key: "a",
      short: "add",
      long: "add a machine",
      run: async () => `launched ${machines.launch().id}`,
    },
    {
      key: "k",
      short: "kill leader",
      long: "kill the replica that leads, with SIGKILL",
      async run() {
        const leader = replicas.leader();
        if (leader === undefined) return "nobody leads at this moment";
        replicas.kill(leader.name);
        return `killed replica ${leader.name} (pid ${leader.pid})`;
      },
    },
    {
      key: "p",
      short: "partition",
      long: "cut the leader off from the API server; again: let it back",
      async run() {
        const cut = replicas.list().find(({ cutOff }) => cutOff);
        const chosen = cut ?? replicas.leader();
        if (chosen === undefined) return "nobody leads at this moment";
        replicas.cutOff(chosen.name, cut === undefined);
        return cut === undefined ? `cut replica ${chosen.name} off; press p again to let it back` : `replica ${chosen.name} is back`;
      },
    },
    ...(balances ? serviceActions(sandbox) : []),
  ];
}

function serviceActions({ kube }: Sandbox): readonly Action[] {
  let made = 0;
  const create = async (kind: string, annotations: Readonly<Record<string, string>>) => {
    const name = `${kind}-${++made}`;
    const service: Service = {
      metadata: { namespace: "default", name, annotations },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }] },
    };
    await kube.create(services, service);
    return `created Service default/${name}`;
  };
  return [
    { key: "c", short: "classic", long: "create a Service with a classic load balancer", run: () => create("classic", {}) },
    {
      key: "n",
      short: "network",
      long: "create a Service with a network load balancer",
      run: () => create("network", { "service.beta.kubernetes.io/aws-load-balancer-type": "nlb" }),
    },
    {
      key: "d",
      short: "delete",
      long: "delete the oldest Service that has a load balancer",
      async run() {
        const { items } = await kube.list(services, { namespace: "default" });
        const [oldest] = items
          .filter(({ spec, metadata }) => spec?.type === "LoadBalancer" && metadata.deletionTimestamp === undefined)
          .sort((a, b) => Date.parse(a.metadata.creationTimestamp ?? "") - Date.parse(b.metadata.creationTimestamp ?? ""));
        if (oldest === undefined) return "there is no Service to delete";
        await kube.delete(services, { namespace: "default", name: oldest.metadata.name });
        return `deleting Service default/${oldest.metadata.name}`;
      },
    },
  ];
}
