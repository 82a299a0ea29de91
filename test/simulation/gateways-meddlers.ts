/** People who change by hand what is ours: beside what they do elsewhere too, they delete rules, and listeners that have none. */
import type { Listener, Rule } from "../../src/sandbox/cloud/elbv2/state.ts";
import type { GatewaysScene } from "./gateways-scene.ts";
import { touch } from "./gateways-users.ts";
import { gatewayOf, wantedRules } from "./gateways-wish.ts";
import { attachTargetGroup, meddleWith, takeMark, type Undo } from "./meddling.ts";

/** Until the signal aborts; then they put everything back. */
export function meddle(scene: GatewaysScene, signal: AbortSignal): Promise<void> {
  return meddleWith(scene, [deleteRule, deleteListener, takeMark, attachTargetGroup], signal);
}

function deleteRule(scene: GatewaysScene): Undo {
  const picked = scene.chance.pick(scene.account.ruleRecords());
  if (picked === undefined) return () => {};
  return lose(scene, picked.text, () => scene.cloud.account.store.table<Rule>("elbv2/rules").delete(picked.rule.arn));
}

function deleteListener(scene: GatewaysScene): Undo {
  const picked = scene.chance.pick(scene.account.forwardRecords());
  if (picked === undefined) return () => {};
  return lose(scene, picked.text, () => scene.cloud.account.store.table<Listener>("elbv2/listeners").delete(picked.listener.arn));
}

/** It is there again when its Gateway is looked at. */
function lose(scene: GatewaysScene, text: string, forget: () => void): Undo {
  const { account, history } = scene;
  const owners = () => [...scene.routes.values()].filter((route) => wantedRules(route, scene.wishes).includes(text));
  const names = new Set(owners().map(({ name }) => name));
  scene.change({}, ({ name }) => names.has(name));
  forget();
  history.tell("user", `deletes ${text} by hand`);
  return async () => {
    if (account.rules().includes(text) || account.forwards().includes(text)) return;
    for (const route of owners()) {
      const gateway = gatewayOf(route, scene.wishes);
      if (gateway !== undefined) await touch(scene, gateway.name);
    }
  };
}
