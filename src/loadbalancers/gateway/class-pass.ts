/** Accepts GatewayClasses, and notes the version of the configuration that they were accepted with. */
import { again, done, type Outcome } from "../../runtime/controller.ts";
import { conditionsAt, said } from "./conditions.ts";
import { processedAnnotation, readClass } from "./configuration.ts";
import type { ConfigurationContext } from "./configuration-context.ts";
import { featuresOf } from "./features.ts";
import { flavourOf } from "./flavours.ts";
import { configurationSources } from "./load.ts";

export const classFinalizer = "gateway.k8s.aws/gatewayclass";
const timestampAnnotation = `${processedAnnotation}-timestamp`;

const staleMs = 1_000;

export async function reconcileClass(name: string, context: ConfigurationContext, signal: AbortSignal): Promise<Outcome> {
  const { objects, report, host } = context;
  const of = objects.classes.get(name);
  const flavour = of && flavourOf(of.view.controllerName);
  if (of === undefined || flavour === undefined || !context.flavours.some((each) => each.name === flavour.name)) return done;
  const { view } = of;
  const stale = again(staleMs, "the GatewayClass has changed in the meantime");
  if (view.isDeleted) {
    if (!view.finalizers.includes(classFinalizer)) return done;
    const isUsed = objects.gateways.list().some((gateway) => gateway.view.className === name);
    // The last Gateway wakes it.
    if (isUsed) {
      host.log.info(`unable to delete GatewayClass [${name}], as it is still referenced by Gateways`);
      return done;
    }
    return (await report.classes.setFinalizer(of, classFinalizer, false, signal)) ? done : stale;
  }
  if (!(await report.classes.setFinalizer(of, classFinalizer, true, signal))) return stale;
  const reading = readClass(view, configurationSources(objects));
  const isAccepted = !("fault" in reading);
  if (isAccepted && (view.annotations[processedAnnotation] ?? "") !== reading.version) {
    const seconds = String(Math.floor(host.world.clock.now() / 1000));
    if (!(await report.classes.annotate(of, { [processedAnnotation]: reading.version, [timestampAnnotation]: seconds }, signal)))
      return stale;
  }
  const accepted = isAccepted ? said("Accepted", true, "Accepted", "Accepted") : said("Accepted", false, reading.fault, reading.message);
  const now = `${new Date(host.world.clock.now()).toISOString().slice(0, 19)}Z`;
  const conditions = conditionsAt(view.conditions, [accepted], view.generation, now);
  return (await report.classes.publish(of, conditions, featuresOf(flavour, objects.sets !== undefined), signal)) ? done : stale;
}
