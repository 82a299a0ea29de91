/** Exchanges whose bodies are in the binary form of Kubernetes, as Go clients send them. */
import type { Exchange, Talk } from "./talk.ts";

type Part = string | number | boolean | Uint8Array;

/** A protobuf message: number and value of each field, in order. */
function message(...fields: readonly (readonly [number: number, value: Part])[]): Buffer {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === "number" || typeof value === "boolean") return Buffer.concat([varint(number << 3), varint(Number(value))]);
      const bytes = Buffer.from(value as string);
      return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
    }),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

async function send(talk: Talk, path: string, apiVersion: string, kind: string, body: Buffer): Promise<void> {
  const envelope = message([1, message([1, apiVersion], [2, kind])], [2, body]);
  const headers = { "content-type": "application/vnd.kubernetes.protobuf", accept: "application/json" };
  await talk.raw("POST", path, Buffer.concat([Buffer.from("k8s\0", "latin1"), envelope]), headers, 201);
}

const named = (name: string, ...more: readonly (readonly [number, Part])[]) => message([1, name], [3, ""], [8, ""], ...more);
const entry = (key: string, value: Part) => message([1, key], [2, value]);

export const binaryExchanges: readonly Exchange[] = [
  {
    name: "binary: a ConfigMap and a Secret with labels, finalizers and owners",
    async run(talk) {
      const owner = message([1, "ConfigMap"], [3, "o"], [4, "u"], [5, "v1"], [6, true]);
      const metadata = named("a", [11, entry("l", "1")], [12, entry("n", "2")], [13, owner], [14, "e.com/f"]);
      await send(talk, talk.in("configmaps"), "v1", "ConfigMap", message([1, metadata], [2, entry("x", "1")], [2, entry("y", "2")]));
      await send(talk, talk.in("secrets"), "v1", "Secret", message([1, named("s")], [2, entry("k", Buffer.from([0, 255]))], [3, "Opaque"]));
    },
  },
  {
    name: "binary: a Service with ports by number and by name",
    async run(talk) {
      const port = (name: string, number: number, target: Buffer) => message([1, name], [2, "TCP"], [3, number], [4, target], [5, 0]);
      const spec = message(
        [1, port("a", 80, message([1, 0], [2, 8080], [3, ""]))],
        [1, port("b", 443, message([1, 1], [2, 0], [3, "https"]))],
        [2, entry("app", "web")],
        [3, ""],
        [4, "LoadBalancer"],
        [11, ""],
        [12, 0],
        [20, false],
      );
      await send(talk, talk.in("services"), "v1", "Service", message([1, named("s")], [2, spec], [3, message([1, ""])]));
    },
  },
  {
    name: "binary: a Lease that is given up keeps its empty holder",
    async run(talk) {
      const time = message([1, 1_767_225_600], [2, 123_456_000]);
      const spec = message([1, ""], [2, 15], [3, time], [4, time], [5, 0]);
      const path = talk.in("leases", "coordination.k8s.io/v1");
      await send(talk, path, "coordination.k8s.io/v1", "Lease", message([1, named("l")], [2, spec]));
    },
  },
  {
    name: "binary: a Node with taints, addresses and capacity",
    async run(talk) {
      const spec = message([3, "aws:///us-east-1a/i-1"], [5, message([1, "k"], [2, ""], [3, "NoSchedule"])], [7, "10.1.0.0/24"]);
      const condition = message([1, "Ready"], [2, "True"], [3, message([1, 1_767_225_600])], [5, "R"], [6, "m"]);
      const status = message(
        [1, entry("cpu", message([1, "4"]))],
        [4, condition],
        [5, message([1, "InternalIP"], [2, "10.0.0.1"])],
        [7, message([7, "v1.36.0"])],
      );
      await send(talk, "/api/v1/nodes", "v1", "Node", message([1, named(talk.namespace)], [2, spec], [3, status]));
      await talk.delete(`/api/v1/nodes/${talk.namespace}`);
    },
  },
  {
    name: "binary: an Ingress and an Event",
    async run(talk) {
      const backend = message([4, message([1, "web"], [2, message([1, ""], [2, 80])])]);
      const rule = message([1, "a.example"], [2, message([1, message([1, message([1, "/x"], [2, backend], [3, "Prefix"])])])]);
      const path = talk.in("ingresses", "networking.k8s.io/v1");
      await send(talk, path, "networking.k8s.io/v1", "Ingress", message([1, named("i")], [2, message([3, rule], [4, "alb"])]));
      const about = message([1, "Ingress"], [2, talk.namespace], [3, "i"]);
      const event = message([1, named("e")], [2, about], [3, "R"], [4, "m"], [5, message([1, "us"])], [8, 2], [9, "Normal"]);
      await send(talk, talk.in("events"), "v1", "Event", event);
    },
  },
];
