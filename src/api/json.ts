// Reads JSON from strangers: what JSON.parse lets pass, two members of one name, bottomless nesting and text that no
// database keeps as it is, is refused.
import { Refusal } from '#domain/refusal.ts';

const deepest = 64;

/** Parses a JSON text, or refuses it saying why. */
export function readJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The parser's own words quote the text, which may hold a token; only the place is passed on.
    const place = /position (\d+)/.exec((error as Error).message)?.[1];
    throw new Refusal('api-error', `The body is not JSON${place === undefined ? '' : ` (see character ${place})`}.`);
  }
  refuseTraps(text);
  return value;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/** One pass over a text that is known to be JSON: counts the depth and remembers each object's names. */
function refuseTraps(text: string): void {
  const names: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        names.push(new Set());
        break;
      case 0x5b: // [
        names.push(undefined);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        names.pop();
        continue;
      case quote: {
        const end = endOfString(text, at);
        const raw = text.slice(at, end + 1);
        const string = raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
        if (string.includes('\0') || !string.isWellFormed()) {
          throw new Refusal('api-error', 'The body holds a text with a NUL character or with half a surrogate pair.');
        }
        const seen = names[names.length - 1];
        if (seen !== undefined && isName(text, end)) {
          if (seen.has(string))
            throw new Refusal('api-error', `The member '${string.slice(0, 100)}' appears twice in one object.`);
          seen.add(string);
        }
        at = end;
        continue;
      }
      default:
        continue;
    }
    if (names.length > deepest) throw new Refusal('api-error', `The body is nested more than ${deepest} levels deep.`);
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

/** Whether the string that ends here is a member's name: the next thing is a colon. */
function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === colon;
}
