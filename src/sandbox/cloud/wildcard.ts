/** Whether a text matches a pattern in which `*` stands for any text, `?` for one character, and `\` for the next one as it is. */
export function matches(pattern: string, text: string): boolean {
  return hasWildcard(pattern) ? compile(pattern).test(text) : pattern === text;
}

/** The pattern as a function, for use on many texts. */
export function matcher(pattern: string): (text: string) => boolean {
  if (!hasWildcard(pattern)) return (text) => text === pattern;
  const expression = compile(pattern);
  return (text) => expression.test(text);
}

function hasWildcard(pattern: string): boolean {
  return /[*?\\]/.test(pattern);
}

function compile(pattern: string): RegExp {
  let source = "";
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern.charAt(index);
    if (character === "*") source += ".*";
    else if (character === "?") source += ".";
    else if (character === "\\" && index + 1 < pattern.length) source += literal(pattern.charAt(++index));
    else source += literal(character);
  }
  return new RegExp(`^${source}$`, "s");
}

function literal(character: string): string {
  return character.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
