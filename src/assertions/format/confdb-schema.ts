// Checks confdb-schemas: views of the configuration of devices, and in the body the schema of its storage. Source of the format: `asserts/confdb.go` and
// `checkJSON` in `asserts/asserts.go` of snapd.
import { readJson } from '#contract/json.ts';
import type { HeaderReader } from './headers.ts';

/** Returns whether a text is a valid name of a confdb-schema or of one of its views. Each repetition consumes a letter or digit. */
const isConfdbName = (text: string): boolean => text.length <= 128 && /^[a-z](?:-?[a-z0-9])*$/.test(text);
const confdbNameRule = 'must be lower-case letters, digits and single inner dashes, with a letter first (at most 128)';

/**
 * Checks the names, the shape of the views and the JSON of the body. The paths of rules and the types of the storage are not compared here: `snap sign` and
 * devices do that.
 */
export function checkConfdbSchema(headers: HeaderReader, { body }: { body: string }): void {
  if (headers.text('account-id') === 'system') headers.oneOf('authority-id', ['canonical']);
  else headers.sameAccountId('account-id', 'authority-id');
  headers.matching('name', isConfdbName, confdbNameRule);
  headers.optionalText('summary');
  const views = headers.map('views');
  for (const name of Object.keys(views.headers)) {
    if (!isConfdbName(name)) throw views.no(name, confdbNameRule);
    checkView(views.map(name));
  }
  headers.time('timestamp');
  checkBody(headers, body);
}

function checkView(view: HeaderReader): void {
  view.optionalText('summary');
  checkRules(view, 'rules');
  if (!view.has('parameters')) return;
  const parameters = view.map('parameters');
  for (const name of Object.keys(parameters.headers)) {
    checkWord(parameters.map(name), 'presence', ['optional', 'required', 'required-on-read', 'required-on-write']);
  }
}

/** Checks the rules of a view, or the rules inside a rule. The format limits their depth. */
function checkRules(parent: HeaderReader, name: 'rules' | 'content'): void {
  const rules = parent.maps(name);
  if (rules.length === 0) throw parent.no(name, 'is empty');
  for (const rule of rules) {
    rule.text('storage');
    if (rule.has('request')) rule.text('request');
    if (rule.has('access') && name === 'content')
      throw rule.no('access', 'must not be there, since the outer rule decides it');
    checkWord(rule, 'access', ['read', 'write', 'read-write']);
    if (rule.has('content')) checkRules(rule, 'content');
  }
}

/** Refuses a word that is not in the list. It may be missing or empty. */
function checkWord(reader: HeaderReader, name: string, words: readonly string[]): void {
  if ((reader.optionalText(name) ?? '') !== '') reader.oneOf(name, words);
}

/** Refuses a body that is not the schema of a storage, as JSON in the form that snapd requires. */
function checkBody(headers: HeaderReader, body: string): void {
  const value = readJson(body);
  if (!isMap(value) || !isMap(value['storage']) || !isMap(value['storage']['schema']))
    throw headers.no('body', "must be a JSON object with the member 'storage', which has the member 'schema'");
  if (formatJsonBody(value) !== body)
    throw headers.no('body', 'must be JSON with sorted members, indented by 2 spaces');
}

/** Returns JSON as snapd requires it in a body: what `json.MarshalIndent` of Go writes. */
export function formatJsonBody(value: unknown, indent = ''): string {
  const inner = `${indent}  `;
  const wrap = (open: string, parts: string[], close: string): string =>
    parts.length === 0 ? open + close : `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`;
  if (Array.isArray(value))
    return wrap(
      '[',
      value.map((item) => formatJsonBody(item, inner)),
      ']',
    );
  if (Object.is(value, -0)) return '-0';
  if (!isMap(value)) return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escape);
  // Go sorts by bytes of UTF-8.
  const names = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const members = names.map((name) => `${formatJsonBody(name)}: ${formatJsonBody(value[name], inner)}`);
  return wrap('{', members, '}');
}

const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
