/** The pods of the suite: a server that answers requests, and a client inside the cluster. */
import { pods } from "../kube/builtin.ts";
import type { Pod } from "../kube/types.ts";
import { type Context, eventually, expect, mark } from "./context.ts";

/** Starts the server behind the Services, on a node or anywhere. */
export function startServer(context: Context, what: string, node?: string): Promise<void> {
  return startPod(context, what, { args: ["netexec", "--http-port=8080", "--udp-port=8080"], ...(node && { node }) }, "Running");
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
}

/** Makes a pod, and waits until it is so far. */
export async function startPod(context: Context, what: string, options: PodOptions, phase: "Running" | "Succeeded"): Promise<void> {
  const { kube, namespace, run, image, ask } = context;
  const name = `e2e-${run}-${what}`;
  const { command, args, node } = options;
  await kube.create(
    pods,
    {
      metadata: { name, namespace, labels: { [mark]: phase === "Running" ? run : `${run}-client` } },
      spec: {
        ...(node && { nodeName: node }),
        restartPolicy: "Never",
        securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "main",
            image: options.image ?? image,
            ...(command && { command: [...command] }),
            ...(args && { args: [...args] }),
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
