import { asObject, isObject, type Json } from "./json.ts";

type Step = (values: readonly Json[]) => Json[];

/** The first value a printer column's path leads to: `.spec.a`, `.list[0].b`, `.list[*].b`, `.conditions[?(@.type=="Ready")].status`. */
export function firstAt(value: Json, path: string): Json | undefined {
  return stepsOf(path).reduce<Json[]>((values, step) => step(values), [value])[0];
}

function stepsOf(path: string): Step[] {
  const parts = path.matchAll(/\.((?:\\.|[^.[\\])+)|\[(\d+)\]|\[(\*)\]|\[\?\(@\.([\w.]+)\s*==\s*["']([^"']*)["']\)\]/g);
  return [...parts].map(([, name, index, all, field, wanted]): Step => {
    if (name !== undefined) {
      const plain = name.replaceAll(/\\(.)/g, "$1");
      return (values) => present(values.map((value) => (isObject(value) ? value[plain] : undefined)));
    }
    if (index !== undefined) return (values) => present(values.map((value) => (Array.isArray(value) ? value[Number(index)] : undefined)));
    if (all !== undefined) return (values) => values.flatMap((value) => (Array.isArray(value) ? value : []));
    return (values) => values.flatMap((value) => (Array.isArray(value) ? value : [])).filter((item) => asObject(item)[field!] === wanted);
  });
}

function present(values: readonly (Json | undefined)[]): Json[] {
  return values.filter((value) => value !== undefined);
}
