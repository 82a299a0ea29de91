/** How plans look on a terminal. */
import type { Step } from "../aws/plan.ts";
import type { Console } from "./command.ts";

const colours = { create: 32, change: 33, delete: 31, plain: 0 } as const;
export const marks = { create: "+", change: "~", delete: "-", plain: " " } as const;

export type Painter = (text: string, colour: keyof typeof colours) => string;

export function painter({ columns }: Console): Painter {
  return (text, colour) => (columns > 0 && colour !== "plain" ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text);
}

/** A line per step, with its mark. */
export function stepLines(steps: readonly Step[], paint: Painter, named = (text: string) => text): string[] {
  return steps.map((step) => paint(`  ${marks[step.effect]} ${named(`${step.what}  (${step.why})`)}`, step.effect));
}
