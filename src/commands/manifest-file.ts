/** Manifests as files hold them. In a file of its own, so that only who gives one pays for the YAML parser. */
import { parseAllDocuments, stringify } from "yaml";

/** The objects of a manifest file, whatever they are. Throws at the first mistake, as what follows it may be read as something else. */
export function objectsIn(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document) => {
    const [mistake] = document.errors;
    if (mistake !== undefined) throw new SyntaxError(`it is not valid YAML: ${mistake.message.split("\n")[0]}`);
    return document.toJS() as unknown;
  });
}

/** Objects as a file holds them. */
export function manifestText(objects: readonly object[]): string {
  return objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })).join("---\n");
}
