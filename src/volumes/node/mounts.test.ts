import assert from "node:assert/strict";
import { test } from "node:test";
import { mkfsArguments } from "./file-systems.ts";
import { parseMountInfo } from "./mounts.ts";

test("mounts are read with any number of optional fields, and with spaces in their paths", () => {
  const text = [
    "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue",
    "37 35 259:1 / /var/lib/kubelet/a\\040b rw,relatime - xfs /dev/nvme1n1 rw",
    "38 35 0:5 /nvme2n1 /block rw shared:1 master:2 - devtmpfs udev rw",
    "",
  ].join("\n");
  assert.deepEqual(parseMountInfo(text), [
    { device: "98:0", root: "/mnt1", path: "/mnt2", options: ["rw", "noatime"], type: "ext3", source: "/dev/root" },
    { device: "259:1", root: "/", path: "/var/lib/kubelet/a b", options: ["rw", "relatime"], type: "xfs", source: "/dev/nvme1n1" },
    { device: "0:5", root: "/nvme2n1", path: "/block", options: ["rw"], type: "devtmpfs", source: "udev" },
  ]);
});

for (const [what, type, options, legacyXfs, expected] of [
  ["ext4", "ext4", {}, false, "-F -m0 /dev/x"],
  ["ext3", "ext3", { blocksize: "1024" }, false, "-b 1024 -F -m0 /dev/x"],
  [
    "ext4 with everything",
    "ext4",
    {
      blocksize: "4096",
      inodesize: "512",
      bytesperinode: "8192",
      numberofinodes: "1000",
      ext4bigalloc: "true",
      ext4clustersize: "16384",
      ext4encryptionsupport: "true",
    },
    false,
    "-b 4096 -I 512 -i 8192 -N 1000 -O bigalloc -C 16384 -O encrypt -F -m0 /dev/x",
  ],
  ["xfs", "xfs", { blocksize: "4096", inodesize: "512" }, false, "-b size=4096 -i size=512 -f /dev/x"],
  ["xfs for old kernels", "xfs", {}, true, "-m bigtime=0,inobtcount=0,reflink=0 -i nrext64=0 -f /dev/x"],
] as const) {
  test(`${what} is made with exactly these arguments`, () => {
    assert.equal(
      mkfsArguments({ device: "/dev/x", type, options: options as Readonly<Record<string, string>>, legacyXfs }).join(" "),
      expected,
    );
  });
}
