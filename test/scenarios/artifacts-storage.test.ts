/** The storage classes that the keeper of artifacts keeps, and the cluster's default among them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArtifactsWorld, kept } from "../bed/artifacts-world.ts";

const defaultClass = "storageclass.kubernetes.io/is-default-class";
const minute = 60_000;
const storage = "/apis/storage.k8s.io/v1/storageclasses";

test("storage classes: changed parameters replace the object, an excluded class goes, and the default moves", async () => {
  const { world } = await kept();
  const before = world.find("storageclasses.storage.k8s.io", "gp3").metadata.uid;
  const foreign = { metadata: { name: "mine" }, provisioner: "ebs.csi.aws.com", parameters: { type: "io2" } };
  await world.say("POST", storage, foreign);
  world.writes.length = 0;
  await world.settle({ storageClass: { provision: [{ name: "gp3", type: "gp3", iops: "6000" }], exclude: ["sc\\d+", "gp2"] } });
  await world.pass(minute);
  const after = world.find("storageclasses.storage.k8s.io", "gp3");
  assert.notEqual(after.metadata.uid, before);
  assert.deepEqual(after.parameters, { type: "gp3", iops: "6000" });
  const names = world.cluster.objects("storageclasses.storage.k8s.io").map(({ metadata }) => metadata.name);
  assert.deepEqual(names.toSorted(), ["gp3", "mine", "st1"]);
  assert.equal(after.metadata.annotations[defaultClass], "true", "gp2 was the default, and is gone");
  assert.deepEqual(
    world.writes.filter((write) => write.startsWith("DELETE")),
    [`DELETE ${storage}/gp3`, `DELETE ${storage}/gp2`, `DELETE ${storage}/sc1`],
  );
});

test("a class that the platform's settings asked for and ours do not is left; one that ours asked for goes when they do not any more", async () => {
  const world = new ArtifactsWorld();
  await world.install();
  const labels = { heritage: "deckhouse", module: "cloud-provider-aws", app: "ebs-csi-driver" };
  const platforms = { metadata: { name: "fast", labels }, provisioner: "ebs.csi.aws.com", parameters: { type: "io2" } };
  await world.say("POST", storage, platforms);
  await world.settle({ storageClass: { provision: [{ name: "slow", type: "st1" }] } });
  world.start();
  await world.pass(minute);
  assert.ok(world.find("storageclasses.storage.k8s.io", "slow"));
  await world.settle({});
  await world.pass(minute);
  assert.equal(world.find("storageclasses.storage.k8s.io", "slow"), undefined);
  assert.ok(world.find("storageclasses.storage.k8s.io", "fast"), "volumes could not be made from it any more");
});

test("a class that every cluster has stays with the parameters of the platform's settings, until ours name it", async () => {
  const world = new ArtifactsWorld();
  await world.install();
  const labels = { heritage: "deckhouse", module: "cloud-provider-aws", app: "ebs-csi-driver" };
  const parameters = { type: "gp3", iops: "6000" };
  const rest = { provisioner: "ebs.csi.aws.com", allowVolumeExpansion: true, volumeBindingMode: "WaitForFirstConsumer" };
  await world.say("POST", storage, { metadata: { name: "gp3", labels }, parameters, ...rest });
  const gp3 = () => world.find("storageclasses.storage.k8s.io", "gp3");
  const { uid } = gp3().metadata;
  world.start();
  await world.pass(minute);
  assert.deepEqual([gp3().metadata.uid, gp3().parameters], [uid, parameters]);
  assert.ok(!world.writes.some((write) => write.endsWith("/gp3")));
  await world.settle({ defaultStorageClass: "gp3" });
  await world.pass(minute);
  assert.deepEqual([gp3().metadata.uid, gp3().metadata.annotations[defaultClass]], [uid, "true"], "the default moves all the same");
  await world.settle({ storageClass: { provision: [{ name: "gp3", type: "gp3" }] } });
  await world.pass(minute);
  assert.deepEqual(gp3().parameters, { type: "gp3" });
  await world.settle({ storageClass: { provision: [{ name: "gp3", type: "gp3", iops: "4000" }] } });
  await world.pass(minute);
  await world.settle({});
  await world.pass(minute);
  assert.deepEqual(gp3().parameters, { type: "gp3" }, "what ours asked for goes with the settings");
});

test("a class that somebody's finalizer holds is waited for, told of, and made anew as soon as it is gone", async () => {
  const { world, keeper } = await kept();
  const gp3 = () => world.find("storageclasses.storage.k8s.io", "gp3");
  await world.say("PATCH", `${storage}/gp3`, { metadata: { finalizers: ["example.org/hold"] } });
  await world.say("PATCH", `${storage}/st1`, { metadata: { finalizers: ["example.org/hold"] } });
  world.writes.length = 0;
  await world.settle({ storageClass: { provision: [{ name: "gp3", type: "gp3", iops: "6000" }], exclude: ["st1"] } });
  await world.pass(10 * minute);
  assert.match(keeper.lines.join(""), /gp3 is being deleted and waits for example\.org\/hold/);
  const deletions = world.writes.filter((write) => write.startsWith("DELETE")).toSorted();
  assert.deepEqual(deletions, [`DELETE ${storage}/gp3`, `DELETE ${storage}/st1`], "it is asked once");
  await world.say("PATCH", `${storage}/gp3`, { metadata: { finalizers: null } });
  await world.pass(1000);
  assert.deepEqual(gp3().parameters, { type: "gp3", iops: "6000" });
});

test("a default that a user chooses takes the mark from ours", async () => {
  const { world } = await kept();
  const metadata = { name: "mine", annotations: { [defaultClass]: "true" } };
  await world.say("POST", storage, { metadata, provisioner: "ebs.csi.aws.com" });
  await world.pass(1000);
  assert.equal(world.find("storageclasses.storage.k8s.io", "gp2").metadata.annotations?.[defaultClass], undefined);
});

test("a default that somebody moves from one class of ours to another stays where it was put, in whichever order it was moved", async () => {
  const marks = { metadata: { annotations: { [defaultClass]: "true" } } };
  const unmarks = { metadata: { annotations: { [defaultClass]: null } } };
  for (const order of ["mark first", "unmark first"]) {
    const { world } = await kept();
    const isDefault = (name: string) => world.find("storageclasses.storage.k8s.io", name).metadata.annotations?.[defaultClass] === "true";
    const defaults = () => ["gp2", "gp3", "sc1", "st1"].filter(isDefault);
    assert.deepEqual(defaults(), ["gp2"], "nobody has chosen one");
    const moves = [() => world.say("PATCH", `${storage}/gp3`, marks), () => world.say("PATCH", `${storage}/gp2`, unmarks)];
    for (const move of order === "mark first" ? moves : moves.toReversed()) {
      await move();
      await world.pass(10_000);
    }
    assert.deepEqual(defaults(), ["gp3"], order);
    world.writes.length = 0;
    await world.pass(20 * minute);
    assert.deepEqual([defaults(), world.writes], [["gp3"], []], order);
    await world.say("PATCH", `${storage}/gp3`, unmarks);
    await world.pass(6 * minute);
    assert.deepEqual(defaults(), ["gp2"], "a cluster is not left without one");
  }
});

test("settings that name the default have their way, and marks that others have put are not fought over", async () => {
  const { world } = await kept();
  const marks = { metadata: { annotations: { [defaultClass]: "true" } } };
  const isDefault = (name: string) => world.find("storageclasses.storage.k8s.io", name).metadata.annotations?.[defaultClass] === "true";
  for (const name of ["sc1", "st1"]) await world.say("PATCH", `${storage}/${name}`, marks);
  await world.pass(minute);
  world.writes.length = 0;
  await world.pass(10 * minute);
  assert.deepEqual([isDefault("gp2"), isDefault("sc1"), isDefault("st1"), world.writes], [false, true, true, []]);
  await world.settle({ defaultStorageClass: "gp3" });
  await world.pass(minute);
  assert.deepEqual(["gp2", "gp3", "sc1", "st1"].filter(isDefault), ["gp3"]);
});

test("a class that somebody else makes otherwise as often as we do is not fought over: it is told of, and tried every five minutes", async () => {
  const { world, keeper } = await kept();
  await world.settle({ storageClass: { provision: [{ name: "gp3", type: "gp3", iops: "4000" }] } });
  await world.pass(1000);
  world.writes.length = 0;
  const { metadata, ...others } = world.find("storageclasses.storage.k8s.io", "gp3");
  for (let minutes = 0; minutes < 20; minutes++) {
    const { parameters } = world.find("storageclasses.storage.k8s.io", "gp3");
    if (parameters.iops === "4000") {
      await world.say("DELETE", `${storage}/gp3`, {});
      const { name, labels, annotations } = metadata;
      await world.say("POST", storage, { ...others, metadata: { name, labels, annotations }, parameters: { type: "gp3", iops: "5000" } });
    }
    await world.pass(minute);
  }
  const deleted = world.writes.filter((write) => write.startsWith("DELETE")).length;
  assert.ok(deleted > 1 && deleted <= 5, `${deleted}`);
  assert.match(keeper.lines.join(""), /gp3 was set right less than 5 minutes ago and is different again/);
  await world.settle({ storageClass: { provision: [{ name: "gp3", type: "gp3", iops: "6000" }] } });
  await world.pass(1000);
  assert.equal(world.find("storageclasses.storage.k8s.io", "gp3").parameters.iops, "6000", "another wish of the user's is not held back");
});

test("nor is what can be changed of a class", async () => {
  const { world, keeper } = await kept();
  world.writes.length = 0;
  for (let minutes = 0; minutes < 20; minutes++) {
    await world.say("PATCH", `${storage}/gp3`, { allowVolumeExpansion: false });
    await world.pass(minute);
  }
  assert.ok(world.writes.length > 1 && world.writes.length <= 5, `${world.writes.length}`);
  assert.match(keeper.lines.join(""), /gp3 was set right less than 5 minutes ago/);
  await world.pass(10 * minute);
  assert.equal(world.find("storageclasses.storage.k8s.io", "gp3").allowVolumeExpansion, true, "who gives in has it set right");
});

test("a class that is asked for twice is told of, and not made and deleted in turn", async () => {
  const { world } = await kept();
  world.writes.length = 0;
  const provision = ["gp3", "io2", "io2"].map((type, index) => ({ name: index < 2 ? "fast" : "other", type }));
  await world.settle({ storageClass: { provision } });
  await world.pass(minute);
  assert.deepEqual(world.writes, []);
  assert.match(world.events("ArtifactsInvalid").join(), /storageClass\.provision: fast is there twice/);
});

test("settings that vanish count for five minutes more: they may be on their way back", async () => {
  const { world } = await kept();
  const names = () => world.cluster.objects("storageclasses.storage.k8s.io").map(({ metadata }) => metadata.name);
  const map = "/api/v1/namespaces/kube-system/configmaps/fairlead-artifacts";
  await world.settle({ storageClass: { provision: [{ name: "slow", type: "st1" }], exclude: ["sc1"] } });
  await world.pass(minute);
  await world.say("DELETE", map, {});
  world.writes.length = 0;
  await world.pass(4 * minute);
  assert.deepEqual([world.writes, names()], [[], ["gp2", "gp3", "slow", "st1"]]);
  await world.settle({ storageClass: { provision: [{ name: "slow", type: "st1" }] } });
  await world.pass(minute);
  assert.deepEqual(names().toSorted(), ["gp2", "gp3", "sc1", "slow", "st1"], "the new ones count at once");
  await world.say("DELETE", map, {});
  await world.pass(6 * minute);
  assert.deepEqual(names().toSorted(), ["gp2", "gp3", "sc1", "st1"], "then the defaults count");
});

test("settings under another key are told of, and are not taken for none", async () => {
  const { world } = await kept();
  await world.settle({ storageClass: { provision: [{ name: "slow", type: "st1" }] } });
  await world.pass(minute);
  const map = "/api/v1/namespaces/kube-system/configmaps/fairlead-artifacts";
  await world.say("PATCH", map, { data: { "settings.yaml": null, "settings.yml": "{}" } });
  await world.pass(minute);
  assert.ok(world.find("storageclasses.storage.k8s.io", "slow"));
  assert.match(world.events("ArtifactsInvalid").join(), /ConfigMap fairlead-artifacts has no key settings\.yaml; it has: settings\.yml/);
});

test("a keeper that has not seen the settings yet does not take them for none", async () => {
  const { world, keeper } = await kept();
  await world.settle({ storageClass: { provision: [{ name: "slow", type: "st1" }] } });
  await world.pass(minute);
  keeper.stop();
  await keeper.ended;
  world.writes.length = 0;
  const ofSettings = ({ method, url }: { method: string; url: URL }) =>
    method === "GET" && url.pathname.endsWith("/configmaps") && url.search.includes("fairlead-artifacts");
  const lift = world.cluster.faults.add({ match: ofSettings, effect: { kind: "refuse", status: 500 } });
  const blind = world.start();
  await world.pass(2 * minute);
  assert.ok(blind.unready().includes("artifacts-synced"), "it cannot read them");
  assert.deepEqual(world.writes, []);
  lift();
  await world.pass(2 * minute);
  assert.deepEqual(world.writes, []);
  assert.ok(world.find("storageclasses.storage.k8s.io", "slow"));
});
