import type { FlagSection } from "../runtime/flags.ts";
import type { Command } from "./command.ts";

/** What the file of a command exports. */
export interface CommandModule {
  readonly run: Command;
  /** Its flags, for shell completion. */
  readonly sections?: readonly FlagSection[];
}

/** One command, as the dispatcher and the overview know it. */
export interface CommandEntry {
  readonly summary: string;
  /** The name of the reference program whose place the command takes: called by it, the program is that command. */
  readonly standsFor?: string;
  /** Words that may follow it, for shell completion; one that ends with a slash is to be continued. */
  readonly words?: readonly string[];
  /** Loads the command's code: no command pays for another's. */
  load(): Promise<CommandModule>;
}

/** Every command, in the order help shows them. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  "controller-manager": {
    summary: "Run the controllers of a cluster: nodes, load balancers, routes, tags",
    standsFor: "aws-cloud-controller-manager",
    load: () => import("./controller-manager.ts"),
  },
  cluster: {
    summary: "Run the programs of a cluster in one process, each with its section of a file",
    load: () => import("./cluster.ts"),
  },
  node: {
    summary: "Run the programs of a node in one process, each with its section of a file",
    load: () => import("./node.ts"),
  },
  "load-balancer-controller": {
    summary: "Keep target groups filled with the endpoints of Services, as TargetGroupBindings say",
    standsFor: "aws-load-balancer-controller",
    load: () => import("./load-balancer-controller.ts"),
  },
  "node-termination-handler": {
    summary: "Drain nodes whose instance is about to be interrupted: spot, maintenance, Auto Scaling",
    standsFor: "node-termination-handler",
    load: () => import("./node-termination-handler.ts"),
  },
  interruptions: {
    summary: "Set AWS up for the termination handler: queue, rules, hooks; or simulate the interruption of a node",
    words: ["setup", "simulate"],
    load: () => import("./interruptions.ts"),
  },
  plan: {
    summary: "Show what would be done to AWS for Services, and do nothing",
    words: ["service/", "ingress/", "routes"],
    load: () => import("./plan.ts"),
  },
  explain: {
    summary: "Explain what is wrong with a Service's load balancer, a Node or a volume, and what to do",
    words: ["service/", "ingress/", "targetgroupbinding/", "node/", "pvc/", "pv/"],
    load: () => import("./explain.ts"),
  },
  migrate: {
    summary: "Print the Gateway, routes and configurations that give the same rules as an Ingress",
    words: ["ingress/", "group/"],
    load: () => import("./migrate.ts"),
  },
  dashboard: {
    summary: "Show the cluster and its AWS account on a page: what stands, what is done, what is wrong, what it costs",
    load: () => import("./dashboard.ts"),
  },
  adopt: {
    summary: "Move a Service to the load balancer controller, with its load balancer where AWS allows it",
    words: ["service/"],
    load: () => import("./adopt.ts"),
  },
  gc: {
    summary: "Find volumes and snapshots of the cluster that nothing in it knows, and delete those that are named",
    load: () => import("./gc.ts"),
  },
  "ebs-csi-driver": {
    summary: "Create, attach and mount EBS volumes for the claims of a cluster",
    standsFor: "aws-ebs-csi-driver",
    words: ["all", "controller", "node", "metadataLabeler", "pre-stop-hook"],
    load: () => import("./ebs-csi-driver.ts"),
  },
  "cloud-data-discoverer": {
    summary: "Tell a platform what the AWS account offers: instance types, zones, subnets, missing permissions, orphaned disks",
    standsFor: "cloud-data-discoverer",
    load: () => import("./cloud-data-discoverer.ts"),
  },
  artifacts: {
    summary: "Print or keep what a node manager needs of the AWS provider: registration, templates of machine classes, storage classes",
    words: ["render", "run"],
    load: () => import("./artifacts.ts"),
  },
  "metrics-proxy": {
    summary: "Serve the metrics of a program on this machine over HTTPS, to those whom the API server lets in",
    load: () => import("./metrics-proxy.ts"),
  },
  "ecr-credential-provider": {
    summary: "Give kubelet the credentials for images in Amazon ECR",
    standsFor: "ecr-credential-provider",
    words: ["config", "test"],
    load: () => import("./ecr-credential-provider.ts"),
  },
  "install-credential-provider": {
    summary: "Put the credential provider where the kubelet of this node looks for it",
    load: () => import("./install-credential-provider.ts"),
  },
  doctor: {
    summary: "Check whether a cluster and its AWS account are set up for Fairlead; changes nothing",
    load: () => import("./doctor.ts"),
  },
  e2e: {
    summary: "Test what is installed on your own cluster and account, and remove everything that was made",
    load: () => import("./e2e.ts"),
  },
  sandbox: {
    summary: "Try it: a cluster and a simulated AWS on this machine, with Fairlead at work",
    load: () => import("./sandbox.ts"),
  },
  completion: {
    summary: "Print the completion script of a shell",
    words: ["bash", "zsh", "fish"],
    load: () => import("./completion.ts"),
  },
  version: {
    summary: "Print the version, the commit, and what it was tested with",
    load: () => import("./version.ts"),
  },
};
