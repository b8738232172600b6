// Guardrails: patterns that the names of a package's tracks must match from end to end. They are a small part of the
// regular expressions that every client knows, and are matched by following all ways at once: whatever an administrator
// writes, the time is bounded by the length of the pattern times that of the name.
import { Refusal } from './refusal.ts';

/** Whether a name matches the whole of a pattern; throws a `Refusal` for one that `checkGuardrail` would refuse. */
export function matchesGuardrail(pattern: string, name: string): boolean {
  return ends(parse(pattern), name, new Set([0])).has(name.length);
}

/** Refuses a pattern that is no guardrail, saying why. */
export function checkGuardrail(pattern: string): void {
  parse(pattern);
}

const longest = 200;

type Node =
  | { kind: 'one'; matches: (character: string) => boolean }
  | { kind: 'sequence'; parts: Node[] }
  | { kind: 'choice'; choices: Node[] }
  | { kind: 'repeat'; part: Node; least: number; most: number };

/** Where in the text a node may end when it begins at one of these places. */
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
      // Beyond as many rounds as the text has characters no round can reach a place that is new.
      for (let round = 1; round <= Math.min(node.most, node.least + text.length) && places.size > 0; round++) {
        places = ends(node.part, text, places);
        if (round >= node.least) for (const at of places) all.add(at);
      }
      return all;
    }
  }
}

function parse(pattern: string): Node {
  const no = (why: string): Refusal =>
    new Refusal('api-error', `The pattern '${pattern.slice(0, longest)}' cannot be a guardrail: ${why}.`);
  if (pattern.length === 0) throw no('it is empty');
  if (pattern.length > longest) throw no(`it is longer than ${longest} characters`);
  let at = 0;
  if (pattern.startsWith('^')) at = 1;
  const end = pattern.endsWith('$') && !pattern.endsWith('\\$') ? pattern.length - 1 : pattern.length;
  const node = choice(0);
  if (at < end) throw no(`there is a ')' without its '('`);
  return node;

  function choice(depth: number): Node {
    if (depth > 10) throw no('its groups nest too deeply');
    const choices = [sequence(depth)];
    while (at < end && pattern[at] === '|') {
      at++;
      choices.push(sequence(depth));
    }
    return choices.length === 1 ? (choices[0] as Node) : { kind: 'choice', choices };
  }

  function sequence(depth: number): Node {
    const parts: Node[] = [];
    while (at < end && pattern[at] !== '|' && pattern[at] !== ')') parts.push(repeated(atom(depth)));
    return { kind: 'sequence', parts };
  }

  function repeated(part: Node): Node {
    const bounds = quantifier();
    if (bounds === undefined) return part;
    if (pattern[at] === '?') at++; // a quantifier that prefers less matches the same names
    if (quantifier() !== undefined || repeats(part)) throw no('it has a quantifier within or behind another');
    return { kind: 'repeat', part, ...bounds };
  }

  function quantifier(): { least: number; most: number } | undefined {
    const simple = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }[at < end ? pattern.charAt(at) : ''];
    if (simple !== undefined) {
      at++;
      return { least: simple[0] ?? 0, most: simple[1] ?? 0 };
    }
    if (at >= end || pattern[at] !== '{') return undefined;
    const [whole, least = '', comma, most = ''] = /^\{(\d{1,3})(,?)(\d{0,3})\}/.exec(pattern.slice(at, end)) ?? [];
    if (whole === undefined || (comma === '' && most !== ''))
      throw no(`a '{' begins no count such as {1,3}; write \\{ for the character`);
    at += whole.length;
    const bounds = { least: Number(least), most: comma === '' ? Number(least) : most === '' ? Infinity : Number(most) };
    if (bounds.most < bounds.least) throw no('a count ends below its beginning');
    return bounds;
  }

  function atom(depth: number): Node {
    const character = pattern.charAt(at++);
    switch (character) {
      case '(': {
        if (pattern[at] === '?') {
          if (pattern[at + 1] !== ':') throw no('it looks ahead or behind, or names a group');
          at += 2;
        }
        const inner = choice(depth + 1);
        if (at >= end || pattern[at] !== ')') throw no(`there is a '(' without its ')'`);
        at++;
        return inner;
      }
      case '[':
        return { kind: 'one', matches: characters() };
      case '.':
        return { kind: 'one', matches: () => true };
      case '\\':
        return { kind: 'one', matches: escaped() };
      case '*':
      case '+':
      case '?':
      case '{':
        throw no(`there is nothing before '${character}' that it could repeat`);
      case '^':
      case '$':
        throw no(`'${character}' may stand only at its ${character === '^' ? 'beginning' : 'end'}`);
      default:
        return { kind: 'one', matches: (other) => other === character };
    }
  }

  function escaped(): (character: string) => boolean {
    if (at >= end) throw no(`it ends with a '\\'`);
    const character = pattern.charAt(at++);
    if (character === 'd') return (other) => other >= '0' && other <= '9';
    if (character === 'w') return (other) => /\w/.test(other);
    if (/[0-9]/.test(character)) throw no('it refers back to a group');
    if (/[a-zA-Z]/.test(character)) throw no(`'\\${character}' is not known; there are \\d, \\w and escaped signs`);
    return (other) => other === character;
  }

  /** What stands between brackets. */
  function characters(): (character: string) => boolean {
    const negated = pattern[at] === '^';
    if (negated) at++;
    const members: ((character: string) => boolean)[] = [];
    for (let first = true; first || pattern[at] !== ']'; first = false) {
      if (at >= end) throw no(`there is a '[' without its ']'`);
      const from = pattern.charAt(at++);
      if (from === ']' || from === '[') throw no(`'${from}' within brackets needs a '\\' before it`);
      if (from === '\\') {
        members.push(escaped());
        continue;
      }
      if (pattern[at] === '-' && at + 1 < end && pattern[at + 1] !== ']') {
        const to = pattern.charAt(at + 1);
        if (to === '\\' || to < from) throw no(`'${from}-${to}' is no range`);
        at += 2;
        members.push((other) => other >= from && other <= to);
      } else members.push((other) => other === from);
    }
    at++;
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
