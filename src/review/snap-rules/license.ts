// Checks SPDX licence expressions as snapd does (snapd's spdx/parser.go), such as `GPL-3.0-only OR (MIT AND
// BSD-2-Clause)`.
import { quoted } from '../unacceptable.ts';
import { licenseExceptions, licenseNames } from './spdx-names.ts';

const operators = ['AND', 'OR', 'WITH'];
/** A longer text is not a licence expression. */
const maxLength = 10_000;

/** Returns the problem of a licence expression; undefined if a device accepts it. */
export function licenseProblem(text: string): string | undefined {
  if (text.length > maxLength) return 'it is too long';
  const tokens = [...text.matchAll(/[()]|[^ \n()]+/g)].map(([token]) => token);
  /** The token before the next one, for each open parenthesis and the whole. */
  const before: string[] = [''];
  for (const token of tokens) {
    const last = before.at(-1)!;
    const problem = tokenProblem(token, last, before.length);
    if (problem !== undefined) return problem;
    if (token === '(') before.push('');
    else if (token === ')') {
      before.pop();
      before[before.length - 1] = '(';
    } else before[before.length - 1] = token;
  }
  // snapd reports an early end within parentheses as a missing parenthesis.
  if (before.length > 1) return "a ')' is missing";
  const last = before[0]!;
  if (last === '') return 'it is empty';
  return operators.includes(last) ? `a licence is missing behind ${last}` : undefined;
}

function tokenProblem(token: string, last: string, depth: number): string | undefined {
  if (token === '(') return last === 'WITH' ? "a '(' cannot stand behind WITH" : undefined;
  if (token === ')') {
    if (depth === 1) return "a '(' is missing";
    return last === '' ? 'parentheses are empty' : undefined;
  }
  if (operators.includes(token)) {
    if (last === '' || operators.includes(last)) return `a licence is missing before ${token}`;
    return token === 'WITH' && last === '(' ? 'a licence is missing before WITH' : undefined;
  }
  if (last === 'WITH') return licenseExceptions.has(token) ? undefined : `the exception ${quoted(token)} is unknown`;
  if (last === '' || last === 'AND' || last === 'OR')
    return licenseNames.has(token) ? undefined : `the licence ${quoted(token)} is unknown`;
  return `AND or OR is missing before ${quoted(token)}`;
}
