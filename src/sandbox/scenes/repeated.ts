/** Work that goes on one at a time for as long as somebody looks, and what came of it last. */
export function repeated<T>(work: () => Promise<T>): { readonly look: () => T | undefined } {
  let isBusy = false;
  let last: T | undefined;
  const run = async () => {
    isBusy = true;
    try {
      last = await work();
    } finally {
      isBusy = false;
    }
  };
  return {
    look: () => {
      if (!isBusy) run().catch(() => {});
      return last;
    },
  };
}
