/**
 * Templates of tag values, in as much of Go's text/template as a tag needs: text, `{{ pipelines }}` of fields, literals and
 * functions with parentheses, `if`, `else if`, `else` and `with`, comments and trimmed spaces. Loops, variables and named
 * templates are refused by name.
 */
import { callFunction, isFunction, shown, truth, type Value } from "./template-functions.ts";

/** The variables of a template, by name without the dot. */
export type TemplateData = Readonly<Record<string, string>>;

/** A template that cannot be read or carried out. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** The text that a template makes of the data. */
export function renderTemplate(template: string, data: TemplateData): string {
  return new Renderer(new Parser(pieces(template)).document(), data).text();
}

type Node =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "show"; readonly pipeline: Pipeline }
  | {
      readonly kind: "if" | "with";
      readonly pipeline: Pipeline;
      readonly then: readonly Node[];
      readonly otherwise: readonly Node[];
    };

/** Each command gets the value of the one before it as its last argument. */
type Pipeline = readonly Command[];
type Command = readonly Operand[];
type Operand =
  | { readonly kind: "literal"; readonly value: Value }
  | { readonly kind: "dot" }
  | { readonly kind: "field"; readonly name: string; readonly ofRoot: boolean }
  | { readonly kind: "function"; readonly name: string }
  | { readonly kind: "pipeline"; readonly pipeline: Pipeline };

type Piece = { readonly kind: "text"; readonly text: string } | { readonly kind: "action"; readonly words: readonly string[] };

const word = /\s*("(?:[^"\\\n]|\\.)*"|`[^`]*`|[|()]|-?\d+|\$?(?:\.[A-Za-z_]\w*)+|\.|\$|[A-Za-z_]\w*|:?=|,)/y;

/** Texts and actions in turn; spaces beside `{{-` and `-}}` are gone. */
function pieces(template: string): readonly Piece[] {
  const found: Piece[] = [];
  let at = 0;
  let trim = false;
  while (at < template.length) {
    const open = template.indexOf("{{", at);
    let text = template.slice(at, open < 0 ? undefined : open);
    if (trim) text = text.trimStart();
    if (open < 0) {
      found.push({ kind: "text", text });
      break;
    }
    const body = /^\{\{(-(?=\s))?((?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|\/\*[\s\S]*?\*\/|(?!\}\})[^"`])*?)(\s-)?\}\}/.exec(template.slice(open));
    if (body === null) throw new TemplateError(`unclosed action in ${JSON.stringify(template)}`);
    if (body[1] !== undefined) text = text.trimEnd();
    if (text !== "") found.push({ kind: "text", text });
    trim = body[3] !== undefined;
    at = open + body[0].length;
    const inner = body[2]!.trim();
    if (!/^\/\*[\s\S]*\*\/$/.test(inner)) found.push({ kind: "action", words: wordsOf(inner) });
  }
  return found;
}

function wordsOf(action: string): readonly string[] {
  const words: string[] = [];
  word.lastIndex = 0;
  while (word.lastIndex < action.length) {
    const before = word.lastIndex;
    const match = word.exec(action);
    if (match === null) throw new TemplateError(`unexpected ${JSON.stringify(action.slice(before).trim())} in an action`);
    words.push(match[1]!);
  }
  if (words.length === 0) throw new TemplateError("missing value for command");
  return words;
}

const refusedWords = ["range", "define", "template", "block", "break", "continue"];

class Parser {
  readonly #pieces: readonly Piece[];
  #at = 0;

  constructor(all: readonly Piece[]) {
    this.#pieces = all;
  }

  document(): readonly Node[] {
    const { nodes, ended } = this.#nodes();
    if (ended !== undefined) throw new TemplateError(`unexpected {{${ended.join(" ")}}}`);
    return nodes;
  }

  /** Nodes up to the end, or to the `else` or `end` that is handed back. */
  #nodes(): { readonly nodes: readonly Node[]; readonly ended: readonly string[] | undefined } {
    const nodes: Node[] = [];
    while (this.#at < this.#pieces.length) {
      const piece = this.#pieces[this.#at++]!;
      if (piece.kind === "text") nodes.push(piece);
      else {
        const [first = "", ...rest] = piece.words;
        if (first === "end" || first === "else") return { nodes, ended: piece.words };
        if (first === "if" || first === "with") nodes.push(this.#conditional(first, rest));
        else nodes.push({ kind: "show", pipeline: pipelineOf(piece.words) });
      }
    }
    return { nodes, ended: undefined };
  }

  #conditional(kind: "if" | "with", condition: readonly string[]): Node {
    const pipeline = pipelineOf(condition);
    const { nodes: then, ended } = this.#nodes();
    if (ended === undefined) throw new TemplateError(`{{${kind}}} without {{end}}`);
    const [last, again, ...rest] = ended;
    if (last === "end") return { kind, pipeline, then, otherwise: [] };
    // `else if` closes with the same `end` as its `if`.
    if (again === "if" || again === "with") return { kind, pipeline, then, otherwise: [this.#conditional(again, rest)] };
    const { nodes: otherwise, ended: closed } = this.#nodes();
    if (closed?.[0] !== "end") throw new TemplateError(`{{${kind}}} without {{end}}`);
    return { kind, pipeline, then, otherwise };
  }
}

function pipelineOf(words: readonly string[]): Pipeline {
  const reading = { words, at: 0 };
  const pipeline = readPipeline(reading);
  if (reading.at < words.length) throw new TemplateError(`unexpected ${JSON.stringify(words[reading.at])} in an action`);
  return pipeline;
}

interface Reading {
  readonly words: readonly string[];
  at: number;
}

function readPipeline(reading: Reading): Pipeline {
  const commands: Command[] = [];
  let command: Operand[] = [];
  for (; reading.at < reading.words.length; reading.at++) {
    const text = reading.words[reading.at]!;
    if (text === ")") break;
    if (text === "|") {
      commands.push(complete(command));
      command = [];
    } else if (text === "(") {
      reading.at++;
      const pipeline = readPipeline(reading);
      if (reading.words[reading.at] !== ")") throw new TemplateError("unclosed left paren");
      command.push({ kind: "pipeline", pipeline });
    } else command.push(operandOf(text));
  }
  return [...commands, complete(command)];
}

function complete(command: readonly Operand[]): Command {
  if (command.length === 0) throw new TemplateError("missing value for command");
  return command;
}

function operandOf(text: string): Operand {
  if (text === ".") return { kind: "dot" };
  if (text.startsWith('"') || text.startsWith("`")) return { kind: "literal", value: unquoted(text) };
  if (/^-?\d+$/.test(text)) return { kind: "literal", value: Number(text) };
  if (text === "true" || text === "false") return { kind: "literal", value: text === "true" };
  const field = /^(\$?)\.([A-Za-z_]\w*)$/.exec(text);
  if (field) return { kind: "field", name: field[2]!, ofRoot: field[1] === "$" };
  if (refusedWords.includes(text)) throw new TemplateError(`{{${text}}} is not supported in the value of a tag`);
  if (/^[A-Za-z_]\w*$/.test(text)) {
    if (!isFunction(text)) throw new TemplateError(`function ${JSON.stringify(text)} not defined`);
    return { kind: "function", name: text };
  }
  throw new TemplateError(`unexpected ${JSON.stringify(text)} in an action`);
}

function unquoted(text: string): string {
  if (text.startsWith("`")) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch (cause) {
    throw new TemplateError(`${text} is not readable text`, { cause });
  }
}

class Renderer {
  readonly #nodes: readonly Node[];
  readonly #data: TemplateData;

  constructor(nodes: readonly Node[], data: TemplateData) {
    this.#nodes = nodes;
    this.#data = data;
  }

  text(): string {
    return this.#all(this.#nodes, undefined);
  }

  /** `dot` is what `with` made of it; undefined is the data. */
  #all(nodes: readonly Node[], dot: Value | undefined): string {
    return nodes.map((node) => this.#one(node, dot)).join("");
  }

  #one(node: Node, dot: Value | undefined): string {
    if (node.kind === "text") return node.text;
    const value = this.#value(node.pipeline, dot);
    if (node.kind === "show") return shown(value);
    if (!truth(value)) return this.#all(node.otherwise, dot);
    return this.#all(node.then, node.kind === "with" ? value : dot);
  }

  #value(pipeline: Pipeline, dot: Value | undefined): Value {
    let piped: Value | undefined;
    for (const command of pipeline) piped = this.#run(command, dot, piped);
    return piped!;
  }

  #run([first, ...rest]: Command, dot: Value | undefined, piped: Value | undefined): Value {
    if (first?.kind === "function") {
      const given = rest.map((operand) => () => this.#operand(operand, dot));
      return callFunction(first.name, piped === undefined ? given : [...given, () => piped]);
    }
    if (rest.length > 0 || piped !== undefined) throw new TemplateError("only a function can be given arguments");
    return this.#operand(first!, dot);
  }

  #operand(operand: Operand, dot: Value | undefined): Value {
    switch (operand.kind) {
      case "literal":
        return operand.value;
      case "pipeline":
        return this.#value(operand.pipeline, dot);
      case "function":
        return callFunction(operand.name, []);
      case "dot":
        if (dot === undefined) throw new TemplateError("the dot stands for all variables here: name one of them");
        return dot;
      case "field": {
        if (dot !== undefined && !operand.ofRoot) throw new TemplateError(`can't evaluate field ${operand.name} in a value`);
        const value = Object.hasOwn(this.#data, operand.name) ? this.#data[operand.name] : undefined;
        if (value === undefined) {
          throw new TemplateError(`can't evaluate field ${operand.name}; there are ${Object.keys(this.#data).join(", ")}`);
        }
        return value;
      }
    }
  }
}
