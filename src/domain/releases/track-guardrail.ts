// Guardrails: patterns that must match the whole name of a package's track. They are a subset of the regular
// expressions that every client knows. All alternatives are followed at the same time, so the time to match is bounded
// by the length of the pattern times that of the name.
import { Refusal } from '../refusal.ts';

/** Whether a pattern matches the whole name. Throws a `Refusal` for a pattern that `checkGuardrail` refuses. */
export function matchesGuardrail(pattern: string, name: string): boolean {
  return ends(parse(pattern), name, new Set([0])).has(name.length);
}

/** Refuses an invalid pattern, with the reason. */
export function checkGuardrail(pattern: string): void {
  parse(pattern);
}

const longest = 200;

type Node =
  | { kind: 'one'; matches: (character: string) => boolean }
  | { kind: 'sequence'; parts: Node[] }
  | { kind: 'choice'; choices: Node[] }
  | { kind: 'repeat'; part: Node; least: number; max: number };

/** The positions in the text where a match of the node can end if it begins at one of `starts`. */
function ends(node: Node, text: string, starts: Set<number>): Set<number> {
  switch (node.kind) {
    case 'one':
      return new Set([...starts].filter((at) => at < text.length && node.matches(text.charAt(at))).map((at) => at + 1));
    case 'sequence':
      return node.parts.reduce((places, part) => ends(part, text, places), starts);
    case 'choice':
      return new Set(node.choices.flatMap((choice) => [...ends(choice, text, starts)]));
    case 'repeat': {
      const all = new Set(node.least === 0 ? starts : []);
      let places = starts;
      // More rounds than the text has characters cannot reach a new position.
      for (let round = 1; round <= Math.min(node.max, node.least + text.length) && places.size > 0; round++) {
        places = ends(node.part, text, places);
        if (round >= node.least) for (const at of places) all.add(at);
      }
      return all;
    }
  }
}

/** Parses a pattern into a tree. Throws a `Refusal` if it is not a guardrail. */
const parse = (pattern: string): Node => new Parser(pattern).parse();

class Parser {
  readonly #pattern: string;
  #at = 0;
  #end = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  parse(): Node {
    const pattern = this.#pattern;
    if (pattern.length === 0) throw this.#no('it is empty');
    if (pattern.length > longest) throw this.#no(`it is longer than ${longest} characters`);
    this.#at = pattern.startsWith('^') ? 1 : 0;
    this.#end = pattern.endsWith('$') && !pattern.endsWith('\\$') ? pattern.length - 1 : pattern.length;
    const node = this.#choice(0);
    if (this.#at < this.#end) throw this.#no(`there is a ')' without its '('`);
    return node;
  }

  #no(reason: string): Refusal {
    const pattern = this.#pattern.slice(0, longest);
    return new Refusal('api-error', `The pattern '${pattern}' cannot be a guardrail: ${reason}.`);
  }

  #choice(depth: number): Node {
    if (depth > 10) throw this.#no('its groups nest too deeply');
    const choices = [this.#sequence(depth)];
    while (this.#at < this.#end && this.#pattern[this.#at] === '|') {
      this.#at++;
      choices.push(this.#sequence(depth));
    }
    return choices.length === 1 ? (choices[0] as Node) : { kind: 'choice', choices };
  }

  #sequence(depth: number): Node {
    const parts: Node[] = [];
    while (this.#at < this.#end && this.#pattern[this.#at] !== '|' && this.#pattern[this.#at] !== ')')
      parts.push(this.#repeated(this.#atom(depth)));
    return { kind: 'sequence', parts };
  }

  #repeated(part: Node): Node {
    const bounds = this.#quantifier();
    if (bounds === undefined) return part;
    if (this.#pattern[this.#at] === '?') this.#at++; // a lazy quantifier matches the same names
    if (this.#quantifier() !== undefined || repeats(part))
      throw this.#no('it has a quantifier within or behind another');
    return { kind: 'repeat', part, ...bounds };
  }

  #quantifier(): { least: number; max: number } | undefined {
    const simple = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }[
      this.#at < this.#end ? this.#pattern.charAt(this.#at) : ''
    ];
    if (simple !== undefined) {
      this.#at++;
      return { least: simple[0] ?? 0, max: simple[1] ?? 0 };
    }
    if (this.#at >= this.#end || this.#pattern[this.#at] !== '{') return undefined;
    const [whole, least = '', comma, max = ''] =
      /^\{(\d{1,3})(,?)(\d{0,3})\}/.exec(this.#pattern.slice(this.#at, this.#end)) ?? [];
    if (whole === undefined || (comma === '' && max !== ''))
      throw this.#no(`a '{' begins no count such as {1,3}; write \\{ for the character`);
    this.#at += whole.length;
    const bounds = { least: Number(least), max: comma === '' ? Number(least) : max === '' ? Infinity : Number(max) };
    if (bounds.max < bounds.least) throw this.#no('a count ends below its beginning');
    return bounds;
  }

  #atom(depth: number): Node {
    const character = this.#pattern.charAt(this.#at++);
    switch (character) {
      case '(': {
        if (this.#pattern[this.#at] === '?') {
          if (this.#pattern[this.#at + 1] !== ':') throw this.#no('it looks ahead or behind, or names a group');
          this.#at += 2;
        }
        const inner = this.#choice(depth + 1);
        if (this.#at >= this.#end || this.#pattern[this.#at] !== ')') throw this.#no(`there is a '(' without its ')'`);
        this.#at++;
        return inner;
      }
      case '[':
        return { kind: 'one', matches: this.#characters() };
      case '.':
        return { kind: 'one', matches: () => true };
      case '\\':
        return { kind: 'one', matches: this.#escaped() };
      case '*':
      case '+':
      case '?':
      case '{':
        throw this.#no(`there is nothing before '${character}' that it could repeat`);
      case '^':
      case '$':
        throw this.#no(`'${character}' may stand only at its ${character === '^' ? 'beginning' : 'end'}`);
      default:
        return { kind: 'one', matches: (other) => other === character };
    }
  }

  #escaped(): (character: string) => boolean {
    if (this.#at >= this.#end) throw this.#no(`it ends with a '\\'`);
    const character = this.#pattern.charAt(this.#at++);
    if (character === 'd') return (other) => other >= '0' && other <= '9';
    if (character === 'w') return (other) => /\w/.test(other);
    if (/[0-9]/.test(character)) throw this.#no('it refers back to a group');
    if (/[a-zA-Z]/.test(character))
      throw this.#no(`'\\${character}' is not known; there are \\d, \\w and escaped signs`);
    return (other) => other === character;
  }

  /** Parses a character class up to its closing bracket. */
  #characters(): (character: string) => boolean {
    const negated = this.#pattern[this.#at] === '^';
    if (negated) this.#at++;
    const members: ((character: string) => boolean)[] = [];
    for (let first = true; first || this.#pattern[this.#at] !== ']'; first = false) {
      if (this.#at >= this.#end) throw this.#no(`there is a '[' without its ']'`);
      const from = this.#pattern.charAt(this.#at++);
      if (from === ']' || from === '[') throw this.#no(`'${from}' within brackets needs a '\\' before it`);
      if (from === '\\') {
        members.push(this.#escaped());
        continue;
      }
      if (this.#pattern[this.#at] === '-' && this.#at + 1 < this.#end && this.#pattern[this.#at + 1] !== ']') {
        const to = this.#pattern.charAt(this.#at + 1);
        if (to === '\\' || to < from) throw this.#no(`'${from}-${to}' is no range`);
        this.#at += 2;
        members.push((other) => other >= from && other <= to);
      } else members.push((other) => other === from);
    }
    this.#at++;
    return (other) => members.some((member) => member(other)) !== negated;
  }
}

const repeats = (node: Node): boolean => {
  switch (node.kind) {
    case 'one':
      return false;
    case 'repeat':
      return true;
    case 'sequence':
      return node.parts.some(repeats);
    case 'choice':
      return node.choices.some(repeats);
  }
};
