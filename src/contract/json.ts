// Parses untrusted JSON. Refuses input that JSON.parse accepts: duplicate member names, deep nesting, and text that databases do not store
// unchanged.
import { Refusal } from '#domain/refusal.ts';

const deepest = 64;

/** Parses a JSON text; the refusal gives the reason. */
export function readJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The message of the parser quotes the text, which may contain a token; only the position is passed on.
    const place = /position (\d+)/.exec((error as Error).message)?.[1];
    throw new Refusal('api-error', `The body is not JSON${place === undefined ? '' : ` (see character ${place})`}.`);
  }
  if (!hasNoTraps(text, value)) refuseTraps(text);
  return value;
}

const beforeColon = [' :', '\t:', '\n:', '\r:'] as const;

/**
 * A fast check for the usual body. Without spaces before colons, each member name ends in `":`. If the text has at most as many of those as
 * the value has members, no name occurred twice. Takes a quarter of the time of the full check below.
 */
function hasNoTraps(text: string, value: unknown): boolean {
  if (text.includes('\\') || beforeColon.some((space) => text.includes(space)) || !text.isWellFormed()) return false;
  let names = 0;
  // A body has a fourth as many colons as quotes.
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) {
    if (text.charCodeAt(at - 1) === quote) names++;
  }
  return membersIn(value, deepest) === names;
}

/** Counts the members of an object and of all objects inside; NaN if they are nested too deep. */
function membersIn(value: unknown, levels: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (levels === 0) return NaN;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) members += membersIn(item, levels - 1);
    return members;
  }
  for (const name in value) members += 1 + membersIn((value as Record<string, unknown>)[name], levels - 1);
  return members;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/**
 * Checks a text that is valid JSON in one pass: counts the depth and records the names of each object. A string without an escape contains
 * no NUL, because the parser refuses it; most texts have no escape, and are checked in half the time.
 */
function refuseTraps(text: string): void {
  const names: (Set<string> | undefined)[] = [];
  const escapes = text.includes('\\');
  if (!text.isWellFormed()) throw unkeepable();
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
        const start = at;
        at = escapes ? endOfString(text, start) : text.indexOf('"', start + 1);
        const seen = names[names.length - 1];
        const member = seen !== undefined && isName(text, at);
        if (!member && !escapes) continue;
        const string = stringAt(text, start, at);
        if (!member) continue;
        if (seen.has(string))
          throw new Refusal('api-error', `The member '${string.slice(0, 100)}' appears twice in one object.`);
        seen.add(string);
        continue;
      }
      default:
        continue;
    }
    if (names.length > deepest) throw new Refusal('api-error', `The body is nested more than ${deepest} levels deep.`);
  }
}

/** Decodes the string between two quotes. */
function stringAt(text: string, start: number, end: number): string {
  const raw = text.slice(start, end + 1);
  if (!raw.includes('\\')) return raw.slice(1, -1);
  const string = JSON.parse(raw) as string;
  if (string.includes('\0') || !string.isWellFormed()) throw unkeepable();
  return string;
}

const unkeepable = (): Refusal =>
  new Refusal('api-error', 'The body holds a text with a NUL character or with half a surrogate pair.');

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

/** Whether the string that ends here is a member name: a colon follows. */
function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === colon;
}
