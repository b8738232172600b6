// Reads typed fields of a snap.yaml as snapd decodes them: any scalar is accepted as text, and a value of another shape
// is a fault.
import { plain } from '../unacceptable.ts';
import type { NonText, TypedYaml } from '../yaml.ts';

export type TypedMapping = Map<TypedYaml, TypedYaml>;

/** The maximum number of reported faults. */
const maxFaults = 20;

/** The faults of a snap, as sentences. */
export class Faults {
  readonly sentences: string[] = [];

  add(sentence: string): void {
    if (this.sentences.length < maxFaults && !this.sentences.includes(sentence)) this.sentences.push(sentence);
  }
}

export const isNonText = (value: TypedYaml | undefined): value is NonText =>
  typeof value === 'object' && value !== null && 'text' in value;

/** The text of a scalar of any type; empty for null, undefined for a collection. */
export function scalarText(value: TypedYaml | undefined): string | undefined {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return isNonText(value) ? value.text : undefined;
}

/** A mapping that has only texts as keys. */
export class YamlFields {
  readonly where: string;
  readonly faults: Faults;
  readonly #members = new Map<string, TypedYaml>();

  constructor(value: TypedYaml | undefined, where: string, faults: Faults) {
    this.where = where;
    this.faults = faults;
    if (value === undefined || value === null) return;
    if (!(value instanceof Map)) {
      faults.add(`${where} must be a mapping of names to values.`);
      return;
    }
    for (const [key, member] of value) {
      const name = scalarText(key);
      if (name === undefined) faults.add(`${where} has a key that is a list or a mapping: use texts.`);
      else this.#members.set(name, member);
    }
  }

  [Symbol.iterator](): MapIterator<[string, TypedYaml]> {
    return this.#members.entries();
  }

  get size(): number {
    return this.#members.size;
  }

  has(key: string): boolean {
    return this.#members.has(key);
  }

  get(key: string): TypedYaml | undefined {
    return this.#members.get(key);
  }

  /** Empty if it is missing. */
  text(key: string): string {
    const text = scalarText(this.#members.get(key));
    if (text === undefined) this.faults.add(`'${key}' in ${this.where} must be one text, not a list or a mapping.`);
    return text ?? '';
  }

  /** The text if the value exists and is not null; a device treats an unquoted null as absent. */
  optionalText(key: string): string | undefined {
    const value = this.#members.get(key);
    return value === undefined || value === null ? undefined : this.text(key);
  }

  texts(key: string): string[] {
    const value = this.#members.get(key) ?? [];
    const texts = Array.isArray(value) ? value.map(scalarText) : [undefined];
    if (!texts.every((text) => text !== undefined)) {
      this.faults.add(`'${key}' in ${this.where} must be a list of texts.`);
      return [];
    }
    return texts;
  }

  /** The mapping under `key`; empty if it is missing. */
  fields(key: string, where = `'${plain(key)}' in ${this.where}`): YamlFields {
    return new YamlFields(this.#members.get(key), where, this.faults);
  }
}
