// Whether a text is a regular expression for Go (RE2 syntax, golang.org/s/re2syntax), without a full parser: finds
// features of backtracking engines, unmatched brackets, and repetitions of nothing.

/** Assertions, references to groups and other features that RE2 lacks. */
const unknownToGo = /\(\?(?:[=!>#|(R&]|<[=!])|\\(?:[1-9]|[ZGKkRXhHVN])/;
const namedGroup = /^\(\?P?<[A-Za-z_][A-Za-z0-9_]*>/;
const flags = /^\(\?[imsU]*(?:-[imsU]+)?[:)]/;
/** `[:alpha:]` within a class, and the name after `\\x` and `\\p`. */
const className = /^\[:\^?[a-z]+:\]/;
const bracedName = /^\{[^}]*\}/;
/** The maximum number of repetitions. */
const mostRepetitions = 1000;

/** One pass over the characters, so that no pattern takes long. */
export function isGoPattern(pattern: string): boolean {
  const text = withoutLiterals(pattern);
  if (text === undefined || unknownToGo.test(text)) return false;
  let depth = 0;
  let repeatable = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (sign === '(') {
      const group = text.slice(at, at + 80);
      const opening = group.startsWith('(?') ? (namedGroup.exec(group) ?? flags.exec(group)) : ['('];
      const begin = opening?.[0];
      if (begin === undefined) return false;
      if (!begin.endsWith(')')) depth++;
      at += begin.length - 1;
      repeatable = false;
    } else if (sign === ')') {
      if (depth-- === 0) return false;
      repeatable = true;
    } else if (sign === '|') repeatable = false;
    else if ('*+?'.includes(sign)) {
      if (!repeatable) return false;
      if (text[at + 1] === '?') at++;
      if ('*+?'.includes(text[at + 1] ?? 'x')) return false;
      repeatable = false;
    } else if (sign === '{') {
      const repetition = /^\{(\d{1,9})(?:,(\d{0,9}))?\}\??/.exec(text.slice(at, at + 24));
      if (repetition === null) repeatable = true;
      else {
        const [whole, min, max = ''] = repetition;
        const isOrdered = max === '' || Number(min) <= Number(max);
        if (!repeatable || !isOrdered || Math.max(Number(min), Number(max)) > mostRepetitions) return false;
        at += whole.length - 1;
        repeatable = false;
      }
    } else repeatable = true;
  }
  return depth === 0;
}

/** Replaces each escape and each class by a letter; undefined if one of them does not end. */
function withoutLiterals(pattern: string): string | undefined {
  let plain = '';
  for (let at = 0; at < pattern.length; at++) {
    const sign = pattern[at]!;
    if (sign === '\\') {
      const next = pattern[at + 1];
      if (next === undefined) return undefined;
      if (next === 'Q') {
        const end = pattern.indexOf('\\E', at);
        plain += 'x';
        at = end < 0 ? pattern.length : end + 1;
        continue;
      }
      plain += /[1-9ZGKkRXhHVN]/.test(next) ? `\\${next}` : 'x';
      // A character by its number, or a class by its name.
      const braced = 'xpP'.includes(next) ? (bracedName.exec(pattern.slice(at + 2, at + 40))?.[0].length ?? 0) : 0;
      at += 1 + braced;
    } else if (sign === '[') {
      const end = endOfClass(pattern, at);
      if (end === undefined) return undefined;
      plain += 'x';
      at = end;
    } else plain += sign;
  }
  return plain;
}

/** Finds the end of the class that begins at `start`; a bracket in first position is one of its characters. */
function endOfClass(pattern: string, start: number): number | undefined {
  let at = start + 1;
  if (pattern[at] === '^') at++;
  if (pattern[at] === ']') at++;
  for (; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '[') {
      const name = className.exec(pattern.slice(at, at + 20))?.[0];
      if (name !== undefined) at += name.length - 1;
    } else if (pattern[at] === ']') return at;
  }
  return undefined;
}
