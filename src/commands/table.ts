import type { Command } from "./command.ts";

/** One command, as the dispatcher and the overview know it. */
export interface CommandEntry {
  readonly summary: string;
  /** The name of the reference program whose place the command takes: called by it, the program is that command. */
  readonly standsFor?: string;
  /** Loads the command's code: no command pays for another's. */
  load(): Promise<Command>;
}

/** Every command, in the order help shows them. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  "controller-manager": {
    summary: "Run the controllers of a cluster: nodes, load balancers, routes, tags",
    standsFor: "aws-cloud-controller-manager",
    load: async () => (await import("./controller-manager.ts")).run,
  },
  plan: {
    summary: "Show what would be done to AWS for Services, and do nothing",
    load: async () => (await import("./plan.ts")).run,
  },
  explain: {
    summary: "Tell what is wrong with a Service's load balancer, and what to do",
    load: async () => (await import("./explain.ts")).run,
  },
  "ecr-credential-provider": {
    summary: "Give kubelet the credentials for images in Amazon ECR",
    standsFor: "ecr-credential-provider",
    load: async () => (await import("./ecr-credential-provider.ts")).run,
  },
  "install-credential-provider": {
    summary: "Put the credential provider where the kubelet of this node looks for it",
    load: async () => (await import("./install-credential-provider.ts")).run,
  },
  doctor: {
    summary: "Look whether a cluster and its AWS account are set up for Fairlead; changes nothing",
    load: async () => (await import("./doctor.ts")).run,
  },
  sandbox: {
    summary: "Try it: a cluster and a simulated AWS on this machine, with Fairlead at work",
    load: async () => (await import("./sandbox.ts")).run,
  },
};
