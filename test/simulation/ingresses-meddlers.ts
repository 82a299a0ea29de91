/** People who change by hand what is ours: beside what they do elsewhere too, they delete rules. */
import type { Rule } from "../../src/sandbox/cloud/elbv2/state.ts";
import type { IngressesScene } from "./ingresses-scene.ts";
import { touch } from "./ingresses-users.ts";
import { wantedRules } from "./ingresses-wish.ts";
import { attachTargetGroup, meddleWith, takeMark, type Undo } from "./meddling.ts";

/** Until the signal aborts; then they put everything back. */
export function meddle(scene: IngressesScene, signal: AbortSignal): Promise<void> {
  return meddleWith(scene, [deleteRule, takeMark, attachTargetGroup], signal);
}

/** Of somebody's rules one; it is there again when its Ingress is looked at. */
function deleteRule(scene: IngressesScene): Undo {
  const { account, chance, cloud, history } = scene;
  const picked = chance.pick(account.ruleRecords());
  if (picked === undefined) return () => {};
  scene.change({}, (wish) => wantedRules(wish, scene.around).includes(picked.text));
  cloud.account.store.table<Rule>("elbv2/rules").delete(picked.rule.arn);
  history.tell("user", `deletes rule ${picked.text} by hand`);
  return async () => {
    for (const wish of scene.wishes.values()) {
      const isLost = wantedRules(wish, scene.around).includes(picked.text) && !account.rules().includes(picked.text);
      if (isLost && wish.mistake === undefined) await touch(scene, wish);
    }
  };
}
