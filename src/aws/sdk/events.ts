/** EventBridge: the few calls by which rules are made, found and checked. */
import { borrowedClient, commandsOf, integer, schemasOf, text, texts } from "./borrowed-client.ts";

const service = {
  serviceId: "EventBridge",
  signingName: "events",
  namespace: "com.amazonaws.eventbridge",
  target: "AWSEvents",
};
const { struct, listOf, operation } = schemasOf(service);
const command = commandsOf(service);

export const Client = borrowedClient(service);

const tags$ = listOf("TagList", struct("Tag", { Key: text, Value: text }, 2));
const retry$ = struct("RetryPolicy", { MaximumRetryAttempts: integer, MaximumEventAgeInSeconds: integer });
const deadLetters$ = struct("DeadLetterConfig", { Arn: text });
const targets$ = listOf("TargetList", struct("Target", { Id: text, Arn: text, RetryPolicy: retry$, DeadLetterConfig: deadLetters$ }, 2));
const failures$ = listOf("PutTargetsResultEntryList", struct("Entry", { TargetId: text, ErrorCode: text, ErrorMessage: text }));

/** Their schemas, which the simulated service has too. */
export const DescribeRule$ = operation(
  "DescribeRule",
  struct("DescribeRuleRequest", { Name: text, EventBusName: text }, 1),
  struct("DescribeRuleResponse", { Name: text, Arn: text, EventPattern: text, State: text, Description: text, EventBusName: text }),
);
export const ListRuleNamesByTarget$ = operation(
  "ListRuleNamesByTarget",
  struct("ListRuleNamesByTargetRequest", { TargetArn: text, EventBusName: text, NextToken: text, Limit: integer }, 1),
  struct("ListRuleNamesByTargetResponse", { RuleNames: texts, NextToken: text }),
);
export const ListTargetsByRule$ = operation(
  "ListTargetsByRule",
  struct("ListTargetsByRuleRequest", { Rule: text, EventBusName: text, NextToken: text, Limit: integer }, 1),
  struct("ListTargetsByRuleResponse", { Targets: targets$, NextToken: text }),
);
export const PutRule$ = operation(
  "PutRule",
  struct("PutRuleRequest", { Name: text, EventPattern: text, State: text, Description: text, Tags: tags$, EventBusName: text }, 1),
  struct("PutRuleResponse", { RuleArn: text }),
);
export const PutTargets$ = operation(
  "PutTargets",
  struct("PutTargetsRequest", { Rule: text, Targets: targets$, EventBusName: text }, 2),
  struct("PutTargetsResponse", { FailedEntryCount: integer, FailedEntries: failures$ }),
);

interface Paged {
  readonly NextToken?: string | undefined;
}

export interface RuleTarget {
  readonly Id: string | undefined;
  readonly Arn: string | undefined;
  readonly RetryPolicy?: { readonly MaximumRetryAttempts?: number; readonly MaximumEventAgeInSeconds?: number };
  readonly DeadLetterConfig?: { readonly Arn?: string };
}

export interface TargetFailure {
  readonly TargetId?: string;
  readonly ErrorCode?: string;
  readonly ErrorMessage?: string;
}

export const DescribeRuleCommand = command<
  { readonly Name: string | undefined },
  { readonly Name?: string; readonly Arn?: string; readonly EventPattern?: string; readonly State?: string }
>(DescribeRule$);
export const ListRuleNamesByTargetCommand = command<
  Paged & { readonly TargetArn: string | undefined },
  Paged & { readonly RuleNames?: readonly string[] }
>(ListRuleNamesByTarget$);
export const ListTargetsByRuleCommand = command<
  Paged & { readonly Rule: string | undefined },
  Paged & { readonly Targets?: readonly RuleTarget[] }
>(ListTargetsByRule$);
export const PutRuleCommand = command<
  {
    readonly Name: string | undefined;
    readonly EventPattern?: string;
    readonly State?: string;
    readonly Description?: string;
    readonly Tags?: readonly { readonly Key: string | undefined; readonly Value: string | undefined }[];
  },
  { readonly RuleArn?: string }
>(PutRule$);
export const PutTargetsCommand = command<
  { readonly Rule: string | undefined; readonly Targets: readonly RuleTarget[] | undefined },
  { readonly FailedEntryCount?: number; readonly FailedEntries?: readonly TargetFailure[] }
>(PutTargets$);
