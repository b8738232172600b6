// Checks the constraints of account-keys. A key with constraints may sign only assertions that match one of them.
import type { Assertion, Headers, AssertionValue } from './assertion.ts';

/** The newest format of an account-key that this store knows all constraints of. */
export const newestKeyFormat = 1;

/**
 * Returns whether an account-key's constraints allow an assertion with these headers, including its type.
 *
 * snapd treats the values of a constraint as regular expressions that must match the whole value. This function supports the subset that
 * brands receive in practice: plain text, `.`, `.*`, escaped characters and alternatives with `|`. Any other expression matches nothing,
 * so an unsupported one can only refuse too much. For the same reason a key in a newer format may sign nothing here.
 */
export function constraintsAllow(accountKey: Pick<Assertion, 'headers'>, headers: Headers): boolean {
  const { constraints, format = '0' } = accountKey.headers;
  if (Number(format) > newestKeyFormat) return false;
  if (constraints === undefined) return true;
  if (!isList(constraints)) return false;
  return constraints.some((constraint) => {
    if (!isMap(constraint)) return false;
    const allowed = constraint['headers'];
    return (
      allowed !== undefined &&
      isMap(allowed) &&
      allowed['type'] === headers['type'] &&
      Object.entries(allowed).every(([name, expected]) => name === 'type' || meets(headers[name], expected))
    );
  });
}

function meets(value: AssertionValue | undefined, expected: AssertionValue): boolean {
  if (value === undefined) return false;
  if (isList(expected)) return expected.some((alternative) => !isList(alternative) && meets(value, alternative));
  // Every member of a list must be allowed.
  if (isList(value)) return value.length > 0 && value.every((member) => meets(member, expected));
  if (typeof expected === 'string') return typeof value === 'string' && matches(value, expected);
  return isMap(value) && Object.entries(expected).every(([name, expectedMember]) => meets(value[name], expectedMember));
}

/** One step of an expression: a character, any one character, or any sequence of characters. */
type PatternStep = { readonly character: string } | 'any' | 'rest';

function matches(text: string, expression: string): boolean {
  const alternatives = read(expression);
  return alternatives?.some((steps) => matchesSteps(text, steps)) ?? false;
}

function read(expression: string): PatternStep[][] | undefined {
  const alternatives: PatternStep[][] = [[]];
  for (let at = 0; at < expression.length; at++) {
    const character = expression[at] as string;
    const next = expression[at + 1] ?? '';
    if (character === '|') {
      alternatives.push([]);
      continue;
    }
    let step: PatternStep = { character };
    if (character === '.') step = next === '*' ? 'rest' : 'any';
    else if (character === '\\' && /[^a-zA-Z0-9\s]/.test(next)) step = { character: next };
    else if (/[()[\]{}*+?^$\\]/.test(character)) return undefined;
    if (step === 'rest' || character === '\\') at++;
    // Repetitions other than `.*` are not supported.
    if (/[*+?{]/.test(expression[at + 1] ?? '')) return undefined;
    alternatives.at(-1)?.push(step);
  }
  return alternatives;
}

/** Backtracks only to the last "rest", so the work is at most the product of both lengths. */
function matchesSteps(text: string, steps: readonly PatternStep[]): boolean {
  let [at, step] = [0, 0];
  let back: { at: number; step: number } | undefined;
  while (at < text.length) {
    const expectedStep = steps[step];
    if (expectedStep === 'rest') {
      back = { at, step: ++step };
    } else if (expectedStep === 'any' ? text[at] !== '\n' : expectedStep?.character === text[at]) {
      at++;
      step++;
    } else if (back !== undefined) {
      if (text[back.at] === '\n') return false;
      at = ++back.at;
      step = back.step;
    } else {
      return false;
    }
  }
  return steps.slice(step).every((remaining) => remaining === 'rest');
}

const isList = (value: AssertionValue): value is readonly AssertionValue[] => Array.isArray(value);
const isMap = (value: AssertionValue): value is Headers => typeof value === 'object' && !isList(value);
