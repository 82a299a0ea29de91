/** Manifests as files hold them. In a file of its own, so that only who gives one pays for the YAML parser. */
import { parseAllDocuments } from "yaml";

/** The objects of a manifest file, whatever they are. */
export function objectsIn(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document) => document.toJS() as unknown);
}
