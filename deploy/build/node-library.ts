/** The one library that Node needs since version 25 and that many systems do not bring: libatomic. */

const folders = ["/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
const more = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/** What to do about it, for those whose Node would not start for want of it. */
export const libraryRemedy = "libatomic.so.1 is missing, which Node needs: apt-get install libatomic1, or dnf install libatomic";

/** Whether it is missing. `starts` tries, which takes a while: only where it is in none of the usual folders. */
export function isLibraryMissing(platform: string, exists: (path: string) => boolean, starts: () => boolean): boolean {
  if (platform !== "linux") return false;
  return ![...folders, ...more].some((folder) => exists(`${folder}/libatomic.so.1`)) && !starts();
}
