// Reads YAML of an upload as go-yaml v2 does, the YAML reader of snapd and juju. Every value stays text as
// it was written: `1.10` is '1.10', `yes` is 'yes'. Only `~`, `null` and an empty value are null. Mappings are Maps, in
// the file's order; of equal keys the last one counts. Only the first document is read.
import { Unacceptable } from './unacceptable.ts';
import { YamlFault } from './yaml/cursor.ts';
import { resolveScalar, type ScalarType } from './yaml/resolve.ts';
import { readTree, YamlTooLarge, type ScalarSource, type TreeOptions, type YamlValue } from './yaml/tree.ts';

export type Yaml = string | null | Yaml[] | Map<Yaml, Yaml>;

/** A scalar that go-yaml does not treat as text, such as `yes` or `0644`. Equal scalars share one object. */
export interface NonText {
  text: string;
  type: Exclude<ScalarType, 'text' | 'null'>;
}
/** Values with booleans and numbers distinguished from texts. */
export type TypedYaml = string | null | NonText | TypedYaml[] | Map<TypedYaml, TypedYaml>;

/** Limits of larder; a device has none or wider ones. */
const bounds = { maxDepth: 1000, maxValues: 200_000, maxExpandedValues: 1_000_000 };

/**
 * Reads the first document; an empty text is null. `file` is its name in error messages. Throws `Unacceptable` for a
 * text that a device cannot read, or that exceeds the limits.
 */
export function readYaml(text: string, file: string): Yaml {
  const document = read<string | null>(text, file, (source, line) => {
    const { text: value, type } = resolveScalar(source, line);
    return type === 'null' ? null : value;
  });
  return document ?? null;
}

/**
 * Like `readYaml`, with booleans and numbers distinguished from texts. `duplicates` receives the mappings with a
 * duplicate key.
 */
export const readTypedYaml = (
  text: string,
  file: string,
  duplicates?: WeakMap<Map<TypedYaml, TypedYaml>, TypedYaml>,
): TypedYaml => readTypedDocument(text, file, duplicates) ?? null;

/** Like `readTypedYaml`; undefined if the text has no document, not even an empty one. */
export function readTypedDocument(
  text: string,
  file: string,
  duplicates?: WeakMap<Map<TypedYaml, TypedYaml>, TypedYaml>,
): TypedYaml | undefined {
  const scalars = new Map<string, NonText>();
  const onDuplicate = (mapping: Map<TypedYaml, TypedYaml>, key: TypedYaml) => duplicates?.set(mapping, key);
  const scalar = (source: ScalarSource, line: number): string | null | NonText => {
    const { text: value, type } = resolveScalar(source, line);
    if (type === 'text') return value;
    if (type === 'null') return null;
    const key = `${type} ${value}`;
    const same = scalars.get(key) ?? { text: value, type };
    scalars.set(key, same);
    return same;
  };
  return read<string | null | NonText>(text, file, scalar, onDuplicate);
}

function read<Scalar>(
  text: string,
  file: string,
  scalar: TreeOptions<Scalar>['scalar'],
  onDuplicate: TreeOptions<Scalar>['onDuplicate'] = () => undefined,
): YamlValue<Scalar> | undefined {
  try {
    return readTree(text, { scalar, onDuplicate, ...bounds });
  } catch (error) {
    if (error instanceof YamlTooLarge) throw new Unacceptable(`${file} ${error.message}.`);
    if (!(error instanceof YamlFault)) throw error;
    throw new Unacceptable(
      `${file} is not the YAML that a device can read: ${error.message} in line ${String(error.line)}. Correct it.`,
    );
  }
}
