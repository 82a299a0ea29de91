/** Checks of what the termination handler hears by: its queue, the rules of EventBridge, the hooks of Auto Scaling, the tag of its instances. */
import { coverageOf } from "../aws/event-rules.ts";
import { type HeardKind, heardKinds } from "../aws/interruption-rules.ts";
import { type Finding, ok, problem, some, warning } from "./finding.ts";
import type { QueueFacts } from "./interruption-questions.ts";
import { liveInstances, type Picture, valueIn } from "./picture.ts";

/** EventBridge, which brings the notices of EC2, Auto Scaling and Health. */
const eventBridge = "events.amazonaws.com";
/** A notice that is older is of no use to anybody. */
const longRetentionSeconds = 3_600;
const managedTag = "aws-node-termination-handler/managed";

export function checkQueue({ features, queueUrl, queue }: Picture): readonly Finding[] {
  if (!features.includes("interruptions") || queueUrl === "") return [];
  if (!queue.known) return [problem("queue", `${queueUrl}: ${queue.why}`, attributesOf(queueUrl, "All"))];
  const { url, retentionSeconds, waiting, senders, deadLetters } = queue.value;
  const findings: Finding[] = [];
  if (!senders.some((sender) => sender === eventBridge || sender === "*")) {
    findings.push(
      problem(
        "queue",
        `its policy does not let ${eventBridge} send: no notice of EventBridge arrives`,
        `${attributesOf(url, "Policy")}   # add a statement that allows ${eventBridge} sqs:SendMessage`,
      ),
    );
  }
  if (retentionSeconds > longRetentionSeconds) {
    const what = `keeps messages for ${Math.round(retentionSeconds / 3600)} hours: notices about instances that are long gone come again`;
    findings.push(warning("queue", what, `aws sqs set-queue-attributes --queue-url ${url} --attributes MessageRetentionPeriod=300`));
  }
  if (waiting > 0) {
    const what = `${waiting} messages are waiting that nothing has received: does a handler read this queue?`;
    findings.push(warning("queue", what, "kubectl -n kube-system get pods -l app.kubernetes.io/part-of=fairlead"));
  }
  findings.push(...deadLetterFindings(queue.value));
  const after = deadLetters === undefined ? "" : `; what cannot be handled goes to ${deadLetters.name}`;
  return findings.length > 0 ? findings : [ok("queue", `${url} hears EventBridge, and is empty${after}`)];
}

/** Of what a queue hands over: whether it arrives, and what has. */
function deadLetterFindings({ deadLetters }: QueueFacts): readonly Finding[] {
  if (deadLetters === undefined || deadLetters.waiting === 0) return [];
  const { name, url, waiting } = deadLetters;
  if (waiting === undefined) {
    const what = `its dead-letter queue ${name} cannot be looked at: ${deadLetters.why}`;
    return [warning("queue", what, "fairlead interruptions setup --plan --dead-letter-queue=always")];
  }
  const what = `${waiting} notices in ${name} could not be delivered or handled`;
  return [warning("queue", what, `aws sqs receive-message --queue-url ${url} --max-number-of-messages 10`)];
}

function attributesOf(url: string, names: string): string {
  return `aws sqs get-queue-attributes --queue-url ${url} --attribute-names ${names}`;
}

/** Kinds of notices that nobody does without: what they tell of is not told in another way. */
const needed: readonly HeardKind[] = ["spot", "maintenance", "termination"];

export function checkRules(picture: Picture): readonly Finding[] {
  const queue = valueIn(picture.queue);
  if (!picture.features.includes("interruptions") || queue === undefined) return [];
  const remedy = `fairlead interruptions setup --plan --name=${queue.arn.split(":").at(-1)}`;
  const { rules } = picture;
  if (!rules.known) return [warning("event rules", `the rules of EventBridge cannot be looked at: ${rules.why}`, remedy)];
  // Hooks that send to the queue by themselves need no rule, and neither does a cluster without groups.
  const direct = valueIn(picture.scalingGroups)?.every(({ hookTargets }) => hookTargets.includes(queue.arn)) ?? false;
  const isHeard = (kind: HeardKind) => coverageOf(rules.value, kind).share === "all";
  const partly = heardKinds.filter((kind) => coverageOf(rules.value, kind).share === "some");
  const missing = needed.filter((kind) => !isHeard(kind) && !(kind === "termination" && direct));
  const disabled = rules.value.filter(({ enabled }) => !enabled).map(({ name }) => name);
  const why = disabled.length === 0 ? "" : ` (disabled: ${some(disabled)})`;
  if (!heardKinds.some(isHeard) && partly.length === 0)
    return [problem("event rules", `no rule of EventBridge passes anything on to the queue${why}`, remedy)];
  const silent = missing.filter((kind) => !partly.includes(kind));
  if (silent.length > 0) return [warning("event rules", `nothing passes on ${silent.join(", ")} to the queue${why}`, remedy)];
  if (partly.length > 0)
    return [warning("event rules", `only some notices of ${partly.join(", ")} are passed on to the queue${why}`, remedy)];
  const others = heardKinds.filter((kind) => !isHeard(kind));
  return [
    ok(
      "event rules",
      `EventBridge passes on ${heardKinds.filter(isHeard).join(", ")}${others.length > 0 ? `; not ${others.join(", ")}` : ""}`,
    ),
  ];
}

export function checkHooks(picture: Picture): readonly Finding[] {
  if (!picture.features.includes("interruptions") || picture.queueUrl === "") return [];
  const groups = valueIn(picture.scalingGroups);
  if (groups === undefined || groups.length === 0) return [];
  const without = groups.filter(({ terminationHooks }) => terminationHooks.length === 0).map(({ group }) => group);
  if (without.length === 0)
    return [ok("lifecycle hooks", `every group holds instances that are to end: ${some(groups.map(({ group }) => group))}`)];
  return [
    warning(
      "lifecycle hooks",
      `Auto Scaling ends instances of ${some(without)} without waiting for a drain`,
      `aws autoscaling put-lifecycle-hook --auto-scaling-group-name ${without[0]} --lifecycle-hook-name fairlead-drain --lifecycle-transition autoscaling:EC2_INSTANCE_TERMINATING --heartbeat-timeout 300 --default-result CONTINUE`,
    ),
  ];
}

export function checkManagedTag(picture: Picture): readonly Finding[] {
  if (!picture.features.includes("interruptions") || picture.queueUrl === "") return [];
  const without = liveInstances(picture)
    .filter(({ tags }) => tags[managedTag] === undefined)
    .map(({ id }) => id);
  if (without.length === 0) return [];
  return [
    warning(
      "managed tag",
      `${some(without)} do not carry ${managedTag}: notices about them are dropped, unless --check-tag-before-draining=false`,
      `aws ec2 create-tags --resources ${without[0]} --tags Key=${managedTag},Value=   # and have their group propagate it`,
    ),
  ];
}
