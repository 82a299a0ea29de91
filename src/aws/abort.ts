/** For work that is done for more than one asker, none of whom may end it. */
export const neverAborted: AbortSignal = new AbortController().signal;

/** The work's outcome, or the abort's reason as soon as it is aborted: whoever does the work may not notice. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
