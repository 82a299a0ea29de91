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

/** The outcome of work that others may have begun, or the abort's reason as soon as it is aborted. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
