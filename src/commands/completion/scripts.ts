/** The vocabulary as scripts of the shells. They hold all words, because starting the program at every key would be felt. */
import type { CommandWord, FlagWord, Vocabulary } from "./vocabulary.ts";

/** The script of each shell. */
export const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

function bashScript(vocabulary: Vocabulary): string {
  return `# bash completion of fairlead
_fairlead() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  COMPREPLY=()
  # bash takes the = of --flag=value for a word.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "${vocabulary.map(({ name }) => name).join(" ")}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]} $previous" in
${vocabulary.flatMap(bashValues).join("\n")}
  esac
  case "\${COMP_WORDS[1]}" in
${vocabulary.map(bashWords).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ \${COMPREPLY[0]-} == */ ]]; then compopt -o nospace 2> /dev/null; fi
}
complete -F _fairlead fairlead
`;
}

function bashValues(command: CommandWord): string[] {
  const cases = command.flags.flatMap((flag) => {
    if (flag.values === undefined) return [];
    const reply = flag.values.length > 0 ? `-W "${flag.values.join(" ")}"` : "-f";
    return [{ pattern: spellings(flag).map((word) => `"${command.name} ${word}"`), reply }];
  });
  return [...Map.groupBy(cases, ({ reply }) => reply)].map(
    ([reply, alike]) =>
      `    ${alike.flatMap(({ pattern }) => pattern).join(" | ")})\n      COMPREPLY=($(compgen ${reply} -- "$current"))\n      return\n      ;;`,
  );
}

function bashWords({ name, words, flags }: CommandWord): string {
  const names = flags.map((flag) => `--${flag.name}`).join(" ");
  return `    ${name}) if [[ $current == -* ]]; then words="${names}"; else words="${words.join(" ")}"; fi ;;`;
}

function zshScript(vocabulary: Vocabulary): string {
  return `#compdef fairlead
# zsh completion of fairlead
_fairlead() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${vocabulary.map(({ name, summary }) => `      ${quoted(`${name}:${summary}`)}`).join("\n")}
    )
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
${vocabulary.map(zshArguments).join("\n")}
  esac
}
if [[ "$funcstack[1]" == "_fairlead" ]]; then _fairlead "$@"; else compdef _fairlead fairlead; fi
`;
}

function zshArguments({ name, words, flags }: CommandWord): string {
  const specs = [...flags.flatMap(zshFlag), ...(words.length > 0 ? [quoted(`*:word:(${words.join(" ")})`)] : [])];
  return `    ${name})\n      _arguments -S ${specs.map((spec) => `\\\n        ${spec}`).join(" ")}\n      ;;`;
}

function zshFlag(flag: FlagWord): string[] {
  const { values, summary } = flag;
  const text = `[${summary.replace(/[[\]\\:]/g, "\\$&")}]`;
  const value = values === undefined ? "" : `:value:${values.length > 0 ? `(${values.join(" ")})` : "_files"}`;
  const others = `(${spellings(flag).join(" ")})`;
  return spellings(flag).map((word) =>
    quoted(`${others}${word}${values === undefined ? "" : word.startsWith("--") ? "=" : "+"}${text}${value}`),
  );
}

function fishScript(vocabulary: Vocabulary): string {
  const lines = vocabulary.flatMap(({ name, summary, words, flags }) => {
    const after = `complete -c fairlead -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c fairlead -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
      ...(words.length > 0 ? [`${after} -a ${quoted(words.join(" "))}`] : []),
      ...flags.map((flag) => `${after} ${fishFlag(flag)}`),
    ];
  });
  return `# fish completion of fairlead\ncomplete -c fairlead -f\n${lines.join("\n")}\n`;
}

function fishFlag({ name, shorthand, values, summary }: FlagWord): string {
  const short = shorthand === undefined ? "" : ` -s ${shorthand}`;
  const value = values === undefined ? "" : values.length > 0 ? ` -x -a ${quoted(values.join(" "))}` : " -r -F";
  return `-l ${name}${short}${value} -d ${quoted(summary)}`;
}

function spellings({ name, shorthand }: FlagWord): readonly string[] {
  return shorthand === undefined ? [`--${name}`] : [`--${name}`, `-${shorthand}`];
}

/** In single quotes, which all three shells read alike as long as none is inside. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
