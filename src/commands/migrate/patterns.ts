/** Patterns in which `*` stands for any text and `?` for any character: which meet, and which hold others. Pure. */

/** Whether some text fits both. */
export function meets(a: string, b: string): boolean {
  const known = new Map<number, boolean>();
  const from = (i: number, j: number): boolean => {
    const key = i * (b.length + 1) + j;
    const answer = known.get(key) ?? step(i, j);
    known.set(key, answer);
    return answer;
  };
  const step = (i: number, j: number): boolean => {
    if (i === a.length && j === b.length) return true;
    if (a[i] === "*") return from(i + 1, j) || (j < b.length && from(i, j + 1));
    if (b[j] === "*") return from(i, j + 1) || (i < a.length && from(i + 1, j));
    if (i === a.length || j === b.length) return false;
    return (a[i] === "?" || b[j] === "?" || a[i] === b[j]) && from(i + 1, j + 1);
  };
  return from(0, 0);
}

/** Whether every text that fits the second fits the first. May say no where it is so, and never yes where it is not. */
export function covers(wide: string, narrow: string): boolean {
  const from = (i: number, j: number): boolean => {
    if (i === wide.length) return j === narrow.length;
    if (wide[i] === "*") return from(i + 1, j) || (j < narrow.length && from(i, j + 1));
    if (j === narrow.length || narrow[j] === "*") return false;
    return (wide[i] === "?" || wide[i] === narrow[j]) && from(i + 1, j + 1);
  };
  return from(0, 0);
}
