/** Everything that would be done for a Gateway, and nothing of it done. */
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import { guardsUnknown } from "../application/guards.ts";
import type { SeenApplication } from "../application/plan.ts";
import type { FoundBalancer } from "../elbv2/found.ts";
import { reconcileAges } from "../inventory.ts";
import { leftovers, planRemoval } from "../remove.ts";
import { said } from "./conditions.ts";
import { configurationOf, processedAnnotation, readClass } from "./configuration.ts";
import type { SurveyContext } from "./context.ts";
import { GatewayFault } from "./fault.ts";
import { flavourOf } from "./flavours.ts";
import { leavingText } from "./leaving.ts";
import { configurationSources, type Loaded, loadGateway } from "./load.ts";
import { ownerOf } from "./owner.ts";
import type { SeenGateway } from "./report.ts";
import { routeConditions } from "./route-status.ts";
import { type GatewaySurvey, surveyGateway } from "./survey.ts";
import { type ClassView, keyOf, routeKeyOf } from "./view.ts";

export interface GatewayPreview {
  readonly gateway: SeenGateway;
  /** In the order they are carried out. */
  readonly steps: readonly Step[];
  /** What keeps the whole Gateway from being served. */
  readonly problems: readonly string[];
  /** What single routes and listeners are told, by their names. */
  readonly faults: ReadonlyMap<string, readonly string[]>;
  readonly warnings: readonly string[];
  readonly loaded?: Loaded;
  /** Undefined where everything has only to go, or nobody can tell what is asked for. */
  readonly survey?: GatewaySurvey;
}

/** Undefined for a Gateway of another controller of which nothing is left. */
export async function previewGateway(gateway: SeenGateway, context: SurveyContext, ask: Ask): Promise<GatewayPreview | undefined> {
  const { view } = gateway;
  const { flavour, objects } = context;
  const of = objects.classes.get(view.className);
  const isGuarded = view.finalizers.includes(flavour.controllerName);
  const isOurs = of !== undefined && flavourOf(of.view.controllerName)?.name === flavour.name;
  if (view.isDeleted || (of !== undefined && !isOurs)) {
    const isLeaving = !view.isDeleted && of !== undefined && flavourOf(of.view.controllerName) === undefined;
    return isGuarded ? previewRemoval(gateway, isLeaving ? [leavingText(of.view)] : [], context, ask) : undefined;
  }
  const nothing = { gateway, steps: [], faults: new Map(), warnings: [] };
  if (of === undefined)
    return isGuarded ? { ...nothing, problems: [`there is no GatewayClass ${view.className}: what stands is kept`] } : undefined;
  try {
    const configuration = configurationOf(view, processed(of.view, context), configurationSources(objects));
    const loaded = loadGateway(gateway, configuration, flavour, objects);
    const survey = await surveyGateway(gateway, loaded, context, {}, ask);
    const unknown = guardsUnknown(survey.seen.seen as SeenApplication);
    if (unknown) throw unknown;
    const problems = survey.seen.problems.map(({ message }) => message);
    const { desire } = survey;
    return {
      gateway,
      steps: problems.length > 0 ? [] : stepsOf(survey, context),
      problems,
      faults: faultsOf(loaded, survey),
      warnings: desire.warnings,
      loaded,
      survey,
    };
  } catch (error) {
    if (!(error instanceof GatewayFault)) throw error;
    return { ...nothing, problems: [error.message] };
  }
}

/** The class as its controller would leave it. Throws a `GatewayFault` where it would not be accepted. */
function processed(of: ClassView, { objects }: SurveyContext): ClassView {
  const reading = readClass(of, configurationSources(objects));
  if ("fault" in reading) throw new GatewayFault(`GatewayClass ${of.name} is not accepted: ${reading.message}`);
  return {
    ...of,
    annotations: { ...of.annotations, [processedAnnotation]: reading.version },
    conditions: [said("Accepted", true, "Accepted", "Accepted")],
  };
}

/** Where an old one has to go first, what is made in its place is planned when it is gone. */
function stepsOf({ seen, replaced }: GatewaySurvey, { flavour }: SurveyContext): readonly Step[] {
  const deletion = (some: readonly FoundBalancer[]) => some.flatMap((lb) => flavour.kind.planDeletion(lb, "Gateway"));
  return replaced.inTheWay.length > 0 ? deletion(replaced.inTheWay) : [...seen.steps, ...deletion(replaced.loadBalancers)];
}

async function previewRemoval(
  gateway: SeenGateway,
  warnings: readonly string[],
  { inventory, flavour, settings }: SurveyContext,
  ask: Ask,
): Promise<GatewayPreview> {
  const owner = ownerOf(gateway.view, flavour, settings);
  const left = await leftovers(owner, { inventory, settings: { disableNodeIngress: true } }, owner.kinds, reconcileAges, ask);
  return { gateway, steps: planRemoval(left, owner), problems: [], faults: new Map(), warnings };
}

function faultsOf({ wish, sets }: Loaded, { desire }: GatewaySurvey): ReadonlyMap<string, readonly string[]> {
  const faults = new Map<string, string[]>();
  const add = (key: string, text: string) => {
    const known = faults.get(key) ?? [];
    if (!known.includes(text)) faults.set(key, [...known, text]);
  };
  for (const { listener, parent, verdict } of wish.listeners) {
    if (verdict.reason !== "Accepted") add(`${parent.kind} ${keyOf(parent.object)}`, `listener ${listener.name}: ${verdict.message}`);
  }
  for (const set of sets.rejected) add(`ListenerSet ${keyOf(set)}`, "the Gateway does not take it");
  for (const { route, failure } of wish.attachment.refs) {
    const told = routeConditions(route, failure, desire.failures.get(route) ?? []);
    const isBad = ({ type, status }: (typeof told)[number]) => status === (type === "PartiallyInvalid" ? "True" : "False");
    for (const { reason, message } of told.filter(isBad)) add(routeKeyOf(route), `${reason}: ${message}`);
  }
  return faults;
}
