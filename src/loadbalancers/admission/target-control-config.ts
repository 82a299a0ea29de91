/** ALBTargetControlConfig: how the agent beside a container is set up that tells a load balancer how many requests a pod takes. */
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { type KubeObject, resource } from "../../kube/resource.ts";

export const protocolVersions = ["HTTP1", "HTTP2", "GRPC"] as const;
export const logLevels = ["debug", "info", "error"] as const;
export const maxConcurrency = 1000;

export interface AgentConfig {
  readonly image: string;
  readonly dataAddress: string;
  readonly controlAddress: string;
  readonly destinationAddress: string;
  readonly maxConcurrency?: number;
  readonly tlsCertPath?: string;
  readonly tlsKeyPath?: string;
  readonly tlsSecurityPolicy?: string;
  readonly protocolVersion?: string;
  readonly rustLog?: string;
  readonly resources?: object;
}

interface TargetControlConfig extends KubeObject {
  readonly spec?: AgentConfig;
}

export const targetControlConfigs = resource<TargetControlConfig>({
  group: "elbv2.k8s.aws",
  version: "v1beta1",
  plural: "albtargetcontrolconfigs",
  kind: "ALBTargetControlConfig",
  namespaced: true,
});

const configName = "aws-load-balancer-controller-alb-target-control-agent-config";
const clusterNamespace = "kube-system";

/** That of a namespace, else the cluster's; undefined where there is none, or no such kind. */
export async function agentConfig(kube: KubeClient, namespace: string, signal: AbortSignal): Promise<AgentConfig | undefined> {
  for (const place of new Set([namespace, clusterNamespace])) {
    const found = await kube.get(targetControlConfigs, { namespace: place, name: configName }, { signal }).catch((error: unknown) => {
      if (isApiError(error, "not-found")) return undefined;
      throw error;
    });
    if (found?.spec !== undefined) return found.spec;
  }
  return undefined;
}

const text = (description: string, more: object = {}) => ({ type: "string", description, ...more });
const address = (description: string) => text(description, { pattern: "^.+:[0-9]+$" });

/** Its definition, as the reference's users know it. Written to `deploy/` by `npm run docs`. */
export const targetControlConfigDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "albtargetcontrolconfigs.elbv2.k8s.aws", labels: { "app.kubernetes.io/part-of": "fairlead" } },
  spec: {
    group: "elbv2.k8s.aws",
    scope: "Namespaced",
    names: {
      kind: "ALBTargetControlConfig",
      listKind: "ALBTargetControlConfigList",
      plural: "albtargetcontrolconfigs",
      singular: "albtargetcontrolconfig",
    },
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            description: "How the target control agent of pods is set up.",
            properties: {
              apiVersion: { type: "string" },
              kind: { type: "string" },
              metadata: { type: "object" },
              spec: {
                type: "object",
                description: "What the agent is started with; annotations of a pod go before it.",
                required: ["image", "dataAddress", "controlAddress", "destinationAddress"],
                properties: {
                  image: text("The image of the agent."),
                  dataAddress: address("host:port on which the agent takes requests of the load balancer."),
                  controlAddress: address("host:port on which the load balancer asks the agent how many requests it takes."),
                  destinationAddress: address("host:port of the application."),
                  maxConcurrency: {
                    type: "integer",
                    format: "int32",
                    description: "Requests that the application takes at the same time.",
                    minimum: 0,
                    maximum: maxConcurrency,
                    default: 1,
                  },
                  tlsCertPath: text("Path of a certificate in the container."),
                  tlsKeyPath: text("Path of its key."),
                  tlsSecurityPolicy: text("Policy of TLS."),
                  protocolVersion: text("The protocol of the load balancer's requests.", { enum: protocolVersions }),
                  rustLog: text("How much the agent logs.", { enum: logLevels }),
                  resources: {
                    type: "object",
                    description: "Requests and limits of the container.",
                    "x-kubernetes-preserve-unknown-fields": true,
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
