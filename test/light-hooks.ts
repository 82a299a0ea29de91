/**
 * Imported before anything else by the processes that run tests. To know which test an uncaught error belongs to, Node's test
 * runner follows every promise with an async hook, which takes a fifth of the time of tests that await much. Here its hook
 * follows no promises: an uncaught error belongs to the test that was entered last and is not over yet.
 */
import asyncHooks from "node:async_hooks";

type Callbacks = Parameters<typeof asyncHooks.createHook>[0] & { readonly trackPromises?: boolean };

/** As much of the runner's tests as is read here. */
interface RunnersTest extends asyncHooks.AsyncResource {
  readonly parent?: RunnersTest | null;
  readonly finished?: boolean;
}

const uncaught = ["uncaughtException", "unhandledRejection"] as const;
const tests = new Map<number, RunnersTest>();
let entered: RunnersTest | undefined;
let errorIsUncaught = false;
const noteUncaught = () => {
  errorIsUncaught = true;
};

const original = { createHook: asyncHooks.createHook, executionAsyncId: asyncHooks.executionAsyncId };
Object.assign(asyncHooks, {
  createHook({ init, destroy }: Callbacks) {
    const hook = original.createHook({
      init(id, type, trigger, resource) {
        if (type === "Test") tests.set(id, resource as RunnersTest);
        init?.(id, type, trigger, resource);
      },
      before(id) {
        entered = tests.get(id) ?? entered;
      },
      destroy(id) {
        tests.delete(id);
        destroy?.(id);
      },
      trackPromises: false,
    } as Callbacks);
    // The runner's own listeners come right after these, and go with them.
    return {
      enable() {
        for (const event of uncaught) process.on(event, noteUncaught);
        return hook.enable();
      },
      disable() {
        for (const event of uncaught) process.off(event, noteUncaught);
        return hook.disable();
      },
    };
  },
  /** The runner asks for it where a test is declared, to know what is around it, and where an error was not caught. */
  executionAsyncId() {
    const belongsTo = errorIsUncaught ? unfinished(entered) : undefined;
    errorIsUncaught = false;
    return belongsTo?.asyncId() ?? original.executionAsyncId();
  },
});
// The runner takes both functions as it is loaded; nobody else is to have them.
await import("node:test");
Object.assign(asyncHooks, original);

/** The test itself or the one around it; none when only the root of all is left. */
function unfinished(test: RunnersTest | undefined): RunnersTest | undefined {
  if (!test?.parent) return undefined;
  return test.finished ? unfinished(test.parent) : test;
}
