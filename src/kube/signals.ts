/**
 * Runs `work` under a signal that aborts with the first of these. Unlike `AbortSignal.any`, nothing stays hooked to a
 * signal that lives as long as the process.
 */
export async function underAll<T>(signals: readonly (AbortSignal | undefined)[], work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const joined = new AbortController();
  const unhook: (() => void)[] = [];
  for (const signal of signals) {
    if (signal === undefined) continue;
    signal.throwIfAborted();
    const onAbort = () => joined.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    unhook.push(() => signal.removeEventListener("abort", onAbort));
  }
  try {
    return await work(joined.signal);
  } finally {
    for (const undo of unhook) undo();
  }
}
