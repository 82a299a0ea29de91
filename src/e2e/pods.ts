/** The pods of the suite: a server that answers requests, and a client inside the cluster. */
import { pods } from "../kube/builtin.ts";
import type { Pod } from "../kube/types.ts";
import { type Context, eventually, expect, labelsOf, mark, nameOf } from "./context.ts";

/** Starts the server behind the Services, on a node or anywhere. */
export function startServer(context: Context, what: string, options: Pick<PodOptions, "node" | "labels"> = {}): Promise<void> {
  return startPod(context, what, { ...options, args: ["netexec", "--http-port=8080", "--udp-port=8080"] }, "Running");
}

/** A pod that asks a URL until it is answered with 200. */
export function askFromInside(context: Context, what: string, node: string, url: string): Promise<void> {
  const script = `for i in $(seq 30); do curl -fsS --max-time 30 ${url} && exit 0; sleep 10; done; exit 1`;
  return startPod(context, what, { command: ["sh", "-c", script], node }, "Succeeded");
}

interface PodOptions {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Mounted at /data. */
  readonly claim?: string;
}

const nobody = 65532;

/** Makes a pod, and waits until it is so far. */
export async function startPod(context: Context, what: string, options: PodOptions, phase: "Running" | "Succeeded"): Promise<void> {
  const { kube, namespace, run, image, ask } = context;
  const name = nameOf(context, what);
  const { command, args, node, labels, claim } = options;
  const ownLabels = phase === "Running" ? labelsOf(context) : { [mark]: `${run}-client` };
  await kube.create(
    pods,
    {
      metadata: { name, namespace, labels: { ...ownLabels, ...labels } },
      spec: {
        ...(node && { nodeName: node }),
        restartPolicy: "Never",
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: nobody, fsGroup: nobody, seccompProfile: { type: "RuntimeDefault" } },
        ...(claim && { volumes: [{ name: "data", persistentVolumeClaim: { claimName: claim } }] }),
        containers: [
          {
            name: "main",
            image: options.image ?? image,
            ...(command && { command: [...command] }),
            ...(args && { args: [...args] }),
            ...(claim && { volumeMounts: [{ name: "data", mountPath: "/data" }] }),
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
          },
        ],
      },
    } satisfies Pod,
    { signal: ask.signal },
  );
  await eventually(context, async () => {
    const { status } = await kube.get(pods, { namespace, name }, { signal: ask.signal });
    const waiting = status?.containerStatuses?.[0]?.state?.waiting?.reason;
    expect(status?.phase === phase, `pod ${name} is ${status?.phase ?? "unknown"}${waiting ? ` (${waiting})` : ""}, not ${phase}`);
  });
}
