/** Spans of time as Go writes and reads them: `6h0m0s`. */

const unitSeconds: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** Whole seconds as Go prints a duration, largest unit first: `45s`, `1m30s`, `1h0m50s`. */
export function formatDuration(seconds: number): string {
  const whole = Math.trunc(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours > 0) return `${hours}h${minutes}m${rest}s`;
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`;
}

/** A non-negative Go duration in seconds; undefined when the text is not one. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!/^(\d+(\.\d*)?(ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(\D+)/g)) seconds += Number(amount) * unitSeconds[unit!]!;
  return seconds;
}
