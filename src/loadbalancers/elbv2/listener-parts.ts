/** What is planned alike for listeners of both kinds of the second generation. Pure. */
import { addListenerCertificates, modifyListenerAttributes, removeListenerCertificates } from "../../aws/elbv2-actions.ts";
import { type Asker, type Made, type Step, step } from "../../aws/plan.ts";
import type { Attributes } from "../model.ts";
import { attributesText, changedAttributes } from "./attributes.ts";

/**
 * Certificates beside the default one, one per call as AWS wants it. Whether the default one stands among them too makes no
 * difference to anybody, so it is left as it is.
 */
export function planCertificates(
  where: string,
  arn: string | Made,
  certificates: readonly string[],
  present: readonly string[],
  /** Who asks for which, by its ARN. */
  askers: Readonly<Record<string, string>> = {},
): Step[] {
  const [first, ...further] = certificates;
  const wanted = new Set(further.filter((certificate) => certificate !== first));
  const added = [...wanted].filter((certificate) => !present.includes(certificate)).toSorted();
  const removed = present.filter((certificate) => certificate !== first && !wanted.has(certificate)).toSorted();
  const input = (CertificateArn: string) => ({ ListenerArn: arn, Certificates: [{ CertificateArn }] });
  return [
    ...added.map((certificate) =>
      step(addListenerCertificates, input(certificate), {
        what: `add certificate ${certificate} to ${where}`,
        why: "it is wanted for its host names",
        waitsOn: ["ListenerNotFound"],
        // Those that are about to go count too.
        needsRoom: ["TooManyCertificates"],
        by: askers[certificate],
      }),
    ),
    ...removed.map((certificate) =>
      step(removeListenerCertificates, input(certificate), {
        what: `remove certificate ${certificate} from ${where}`,
        why: "nothing asks for it",
        settledBy: ["CertificateNotFound"],
      }),
    ),
  ];
}

export function planListenerAttributes(where: string, arn: string | Made, attributes: Attributes, present: Attributes, by?: Asker): Step[] {
  const changed = changedAttributes(attributes, present);
  if (changed.length === 0) return [];
  const what = `set ${attributesText(changed)} on ${where}`;
  return [step(modifyListenerAttributes, { ListenerArn: arn, Attributes: changed }, { what, why: "it differs from what is wanted", by })];
}
