/** A client of a CSI driver's socket, as the sidecars have one. */
import type { TestContext } from "node:test";
import { credentials, type GrpcObject, loadPackageDefinition, type ServiceClientConstructor } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import { csiDescriptor } from "../../src/volumes/csi/descriptor.ts";

/** Calls a method of a service: `call("Controller", "CreateVolume", request)`. */
export type CsiCall = <T>(service: "Identity" | "Controller" | "Node", method: string, request?: object) => Promise<T>;

/** What a refused call rejects with. */
export interface CsiRefusal {
  readonly code: number;
  readonly details: string;
}

/** The code and the text of a refusal. */
export function statusOf({ code, details }: CsiRefusal): CsiRefusal {
  return { code, details };
}

/** Calls the driver behind a socket; the connection ends with the test. */
export function csiClient(t: TestContext, socket: string): CsiCall {
  const definition = fromJSON(csiDescriptor as object as Parameters<typeof fromJSON>[0], {
    longs: String,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  const { csi } = loadPackageDefinition(definition);
  const services = (csi as GrpcObject).v1 as Record<string, ServiceClientConstructor>;
  const clients = new Map(
    ["Identity", "Controller", "Node"].map((name) => [name, new services[name]!(`unix:${socket}`, credentials.createInsecure())]),
  );
  t.after(() => {
    for (const client of clients.values()) client.close();
  });
  return (service, method, request = {}) =>
    new Promise((resolve, reject) => {
      const client = clients.get(service)! as unknown as Record<
        string,
        (request: object, answer: (error: Error | null, value: never) => void) => void
      >;
      client[method]!(request, (error, value) => (error ? reject(error) : resolve(value)));
    });
}
