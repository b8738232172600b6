// Reads typed values from headers by name: texts, counts, times, ids, lists and maps. Throws a refusal that describes the problem.
import { isAccountId } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import { quoted, type Headers, type AssertionValue } from './assertion.ts';
import { readTime } from './times.ts';

/** Reads headers, or a map within them. Refusals use the header names that the author wrote. */
export class HeaderReader {
  readonly label: string;
  readonly headers: Headers;

  constructor(label: string, headers: Headers) {
    this.label = label;
    this.headers = headers;
  }

  no(name: string, reason: string): Refusal {
    return new Refusal('api-error', `The ${this.label} cannot be taken: '${name}' ${reason}.`);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.headers, name);
  }

  value(name: string): AssertionValue {
    if (!this.has(name)) throw this.no(name, 'is missing');
    return this.headers[name] as AssertionValue;
  }

  text(name: string): string {
    const value = this.value(name);
    if (typeof value !== 'string') throw this.no(name, 'must be a text');
    if (value === '') throw this.no(name, 'is empty');
    return value;
  }

  optionalText(name: string): string | undefined {
    if (this.has(name) && typeof this.headers[name] !== 'string') throw this.no(name, 'must be a text');
    return this.headers[name] as string | undefined;
  }

  matching(name: string, matches: (text: string) => boolean, rule: string): string {
    const text = this.text(name);
    if (!matches(text)) throw this.no(name, `is ${quoted(text)}, but ${rule}`);
    return text;
  }

  oneOf(name: string, words: readonly string[]): string {
    return this.matching(name, (text) => words.includes(text), `must be one of ${words.join(', ')}`);
  }

  accountId(name: string): string {
    return this.matching(
      name,
      isAccountId,
      'must be an account id: 32 letters and digits, or 2 to 28 of a-z, 0-9 and dash',
    );
  }

  accountIds(name: string): readonly string[] {
    const ids = this.texts(name);
    const wrong = ids.find((id) => !isAccountId(id));
    if (wrong !== undefined) throw this.no(name, `holds ${quoted(wrong)}, which is no account id`);
    return ids;
  }

  /** Returns the account id in a header. Refuses it if the header `other` has another value. */
  sameAccountId(name: string, other: string): string {
    const text = this.accountId(name);
    if (text !== this.headers[other]) throw this.no(name, `must be the same as ${other}`);
    return text;
  }

  count(name: string, least: number): number {
    const text = this.matching(
      name,
      (text) => /^(?:0|[1-9]\d{0,14})$/.test(text),
      'must be a whole number without sign or leading zeros',
    );
    if (Number(text) < least) throw this.no(name, `must be at least ${least}`);
    return Number(text);
  }

  time(name: string): Date {
    const text = this.text(name);
    const moment = readTime(text);
    if (moment === undefined)
      throw this.no(name, `is ${quoted(text)}, but must be a time such as 2024-01-02T03:04:05Z`);
    return moment;
  }

  /** Reads the headers since and until. Equal times mean that the assertion was withdrawn. */
  validity(bothNeeded: boolean): { since: Date; until: Date | undefined } {
    const since = this.time('since');
    const until = bothNeeded || this.has('until') ? this.time('until') : undefined;
    if (until !== undefined && until < since) throw this.no('until', 'is before since');
    return { since, until };
  }

  texts(name: string): readonly string[] {
    const list = this.value(name);
    if (!Array.isArray(list) || !list.every((member) => typeof member === 'string'))
      throw this.no(name, 'must be a list of texts');
    return list;
  }

  map(name: string): HeaderReader {
    const value = this.value(name);
    if (typeof value === 'string' || Array.isArray(value)) throw this.no(name, 'must be a map');
    return new HeaderReader(`${name} of the ${this.label}`, value as Headers);
  }

  maps(name: string): readonly HeaderReader[] {
    const list = this.value(name);
    const isMap = (value: AssertionValue) => typeof value !== 'string' && !Array.isArray(value);
    if (!Array.isArray(list) || !(list as readonly AssertionValue[]).every(isMap))
      throw this.no(name, 'must be a list of maps');
    return (list as readonly Headers[]).map((map, index) => {
      const title = typeof map['name'] === 'string' ? ` ${quoted(map['name'])}` : ` ${index + 1}`;
      return new HeaderReader(`${name}${title} of the ${this.label}`, map);
    });
  }
}
