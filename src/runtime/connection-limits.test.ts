import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { ConnectionLimits } from "./connection-limits.ts";
import { silentLog } from "./log.ts";

class FakeSocket extends EventEmitter {
  open = true;
  readonly remoteAddress: string;
  readonly remotePort: number;
  constructor(remoteAddress: string, remotePort: number) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }
  destroy() {
    this.open = false;
    this.emit("close");
  }
}

function bed(total: number, perPeer: number) {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => warnings.push(message) };
  const { clock } = virtualWorld(1);
  const limits = new ConnectionLimits(clock, log, { total, perPeer });
  let port = 0;
  const connect = (address: string) => {
    const socket = new FakeSocket(address, ++port);
    limits.admit(socket);
    return socket;
  };
  return { limits, connect, warnings };
}

test("a peer with more than its share loses its oldest, and nobody else does", () => {
  const { limits, connect, warnings } = bed(10, 3);
  const kubelet = connect("10.0.0.1");
  const flood = Array.from({ length: 8 }, () => connect("10.0.0.2"));
  assert.ok(kubelet.open);
  assert.deepEqual(
    flood.map(({ open }) => open),
    [false, false, false, false, false, true, true, true],
  );
  assert.equal(limits.size, 4);
  assert.equal(warnings.length, 1, "said once a minute");
});

test("where all peers are within their share, the largest one makes room for the newcomer", () => {
  const { connect } = bed(6, 5);
  const single = connect("10.0.0.1");
  const many = Array.from({ length: 4 }, () => connect("10.0.0.2"));
  const other = connect("10.0.0.3");
  const probe = connect("10.0.0.4");
  assert.deepEqual([single.open, other.open, probe.open, many.map(({ open }) => open)], [true, true, true, [false, true, true, true]]);
});

test("where every peer has one, the oldest that nobody has authenticated on goes; those in work go after the idle", () => {
  const { limits, connect } = bed(4, 4);
  const [scraper, asking, idle, late] = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"].map(connect) as [
    FakeSocket,
    FakeSocket,
    FakeSocket,
    FakeSocket,
  ];
  limits.authenticated(scraper);
  connect("10.0.0.5");
  assert.deepEqual(
    [scraper, asking, idle, late].map(({ open }) => open),
    [true, false, true, true],
  );

  const peer = bed(3, 3);
  const [known, busy, quiet] = [1, 2, 3].map(() => peer.connect("10.0.0.1")) as [FakeSocket, FakeSocket, FakeSocket];
  peer.limits.authenticated(known);
  const done = peer.limits.request(busy);
  peer.connect("10.0.0.1");
  assert.deepEqual([known.open, busy.open, quiet.open], [true, true, false]);
  done();
  peer.connect("10.0.0.1");
  assert.deepEqual([known.open, busy.open], [true, false]);
});

test("addresses of one IPv6 network are one peer, and an IPv4 address is the same in both spellings", () => {
  const { limits, connect } = bed(10, 1);
  for (const address of ["fd00:1:2:3::1", "fd00:1:2:3:4:5:6:7", "fd00:1:2:3:ffff::2"]) connect(address);
  assert.equal(limits.size, 1);
  connect("fd00:1:2:4::1");
  assert.equal(limits.size, 2);
  connect("10.0.0.1");
  connect("::ffff:10.0.0.1");
  assert.equal(limits.size, 3);
  connect("fd00::1");
  connect("fd00::2");
  assert.equal(limits.size, 4);
});

test("what is closed leaves its place, and its number may be used again", () => {
  const { limits, connect } = bed(2, 2);
  for (let i = 0; i < 10; i++) connect("10.0.0.1").destroy();
  assert.equal(limits.size, 0);

  const reused = [1, 2].map(() => new FakeSocket("10.0.0.2", 7));
  for (const socket of reused) limits.admit(socket);
  for (const socket of reused) socket.destroy();
  const scraper = connect("10.0.0.2");
  connect("10.0.0.2");
  assert.ok(scraper.open, "a number that was used again before the earlier connection had closed counts once");
});
