/** Who may reach a Service's load balancer. */
import { formatCidr, parseCidr } from "../../runtime/ip.ts";
import type { Problem } from "../model.ts";
import { sourceRangesAnnotation } from "./annotations.ts";

export interface SourceRanges {
  /** Canonical and without repeats. */
  readonly cidrs: readonly string[];
  readonly problems: readonly Problem[];
}

/** The ranges of the spec, else of the annotation, else everybody. */
export function sourceRanges(spec: readonly string[] | undefined, annotation: string | undefined): SourceRanges {
  if (spec && spec.length > 0) {
    const { cidrs, bad } = normalised(spec);
    const message = `service.Spec.LoadBalancerSourceRanges: [${spec.join(" ")}] is not valid. Expecting a list of IP ranges. For example, 10.0.0.0/24. Error msg: invalid CIDR address: ${bad}`;
    return { cidrs, problems: bad === undefined ? [] : [{ message }] };
  }
  const text = annotation?.trim() ?? "";
  if (text === "") return { cidrs: ["0.0.0.0/0"], problems: [] };
  const { cidrs, bad } = normalised(text.split(","));
  const message = `${sourceRangesAnnotation}: ${text} is not valid. Expecting a comma-separated list of source IP ranges. For example, 10.0.0.0/24,192.168.2.0/24`;
  return { cidrs, problems: bad === undefined ? [] : [{ annotation: sourceRangesAnnotation, message }] };
}

function normalised(ranges: readonly string[]): { cidrs: string[]; bad?: string } {
  const parsed = ranges.map((range) => ({ range: range.trim(), cidr: parseCidr(range.trim()) }));
  const bad = parsed.find(({ cidr }) => cidr === undefined)?.range;
  return { cidrs: [...new Set(parsed.flatMap(({ cidr }) => (cidr ? [formatCidr(cidr)] : [])))], bad };
}
