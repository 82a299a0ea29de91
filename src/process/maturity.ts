/** How far each program has come, and by which criteria: help, `fairlead version`, README and docs/maturity.md say what stands here. */

export const stages = {
  alpha: "The main paths are built and tested; cases of the reference may be missing, and flags of our own may still change.",
  beta:
    "Every behaviour of the reference that its specification lists is built and tested: units, scenarios on virtual time, thousands of simulated " +
    "histories with crashes and faults, a real API server, and the reference itself beside it. Flags and annotations stay.",
  stable:
    "Beta, and its end-to-end cases have passed on real accounts for every supported Kubernetes minor, with three months in production on at least three clusters.",
} as const;

export type Stage = keyof typeof stages;

interface Maturity {
  readonly stage: Stage;
  /** What is there, and what keeps it from the next stage. */
  readonly why: string;
}

/** Of every program that stays running, and the credential provider. */
export const maturity: Readonly<Record<string, Maturity>> = {
  "controller-manager": { stage: "beta", why: "complete against its reference; never run on a real account" },
  "ecr-credential-provider": {
    stage: "beta",
    why: "complete against its reference, with kubelet's own plugin code; never run on a real account",
  },
  "load-balancer-controller": { stage: "alpha", why: "TargetGroupBindings, Ingresses, Services with its class and Gateways" },
  "node-termination-handler": { stage: "alpha", why: "both modes; younger and less proven than the controller manager" },
  "ebs-csi-driver": { stage: "alpha", why: "volumes and snapshots; younger and less proven than the controller manager" },
  "cloud-data-discoverer": {
    stage: "alpha",
    why: "complete against its specification; its reference cannot be run beside it",
  },
  artifacts: {
    stage: "alpha",
    why: "objects and hooks of its specification without the platform's workloads; never run beside a node manager",
  },
  cluster: { stage: "alpha", why: "hosts the programs above in one process" },
  node: { stage: "alpha", why: "hosts the programs of a node in one process" },
};

/** What everybody who considers it should know first. */
export const neverOnRealAccount =
  "No version of Fairlead has been run on a real AWS account: all of it was tested against a simulated AWS and real Kubernetes API servers.";

export const notAffiliated = "Fairlead is not affiliated with, endorsed or supported by Amazon Web Services.";
