/** What this version was tested with: chart, doctor, README and docs/versions.md say what stands here, held by tested.test.ts. */
import runs from "./kubernetes-runs.json" with { type: "json" };

export const testedWith = {
  /** The API server of `npm test`. */
  Kubernetes: "1.36.3",
  etcd: "3.7.3",
  /** The minor of the AWS cloud provider whose flags, annotations and Events are matched. */
  "cloud-provider-aws": "1.36",
} as const;

/** One run of the integration core on an API server; `npm run versions` writes them. */
export interface KubernetesRun {
  readonly kubernetes: string;
  readonly date: string;
  readonly passed: number;
  readonly failed: number;
}

/** The newest run of each minor, oldest minor first. */
export const kubernetesRuns: readonly KubernetesRun[] = runs;

/** The oldest minor that chart and doctor accept; below what is tested the doctor warns. */
export const oldestMinor = 30;

/** The minors on which everything passed, oldest first. */
export const testedMinors: readonly number[] = kubernetesRuns
  .filter(({ failed }) => failed === 0)
  .map(({ kubernetes }) => minorOf(kubernetes));

/** "1.34 to 1.36", or one by one where there is a gap. */
export const testedText = inWords(testedMinors);

/** The API servers it works with. */
export const worksWith = `Kubernetes ${testedText}`;

/** Minors as people write them. */
export function inWords(minors: readonly number[]): string {
  const [first = 0, last = first] = [minors[0], minors.at(-1)];
  const gapless = minors.length > 2 && last - first === minors.length - 1;
  return gapless ? `1.${first} to 1.${last}` : minors.map((minor) => `1.${minor}`).join(", ");
}

/** 36 of "1.36.3". */
export function minorOf(version: string): number {
  return Number(version.split(".")[1]);
}
