// YAML as an upload may contain it. Every value stays text as it was written, as the devices' own reader has it:
// `1.10` is '1.10', `yes` is 'yes'. Only `~`, `null` and nothing at all are null. Mappings are Maps, in the file's order.
import { FAILSAFE_SCHEMA, load, mergeTag, nullCoreTag, realMapTag, YAMLException } from 'js-yaml';
import { Unacceptable, plain } from './unacceptable.ts';

export type Yaml = string | null | Yaml[] | Map<Yaml, Yaml>;

const schema = FAILSAFE_SCHEMA.withTags(nullCoreTag, mergeTag, realMapTag);
/** Every value that the parser keeps costs one of these characters; so many fit into a worker's memory. */
const separators = /[\n,:[\]{}?-]/g;
const mostSeparators = 200_000;
const deepest = 100;
/** Aliases are shared, so they cost nothing here; whoever writes them out later must be able to. */
const mostValues = 1_000_000;

/** Reads one document; `file` is its name in the sentences. Throws `Unacceptable`. */
export function readYaml(text: string, file: string): Yaml {
  if ((text.match(separators)?.length ?? 0) > mostSeparators) {
    throw new Unacceptable(`${file} holds too many values to be read: shorten it.`);
  }
  let value: Yaml;
  try {
    value = load(text, { schema, filename: file, maxDepth: deepest }) as Yaml;
  } catch (error) {
    // Whatever it threw, the document made it: there is nothing else that the parser works with.
    const reason = error instanceof YAMLException ? error.reason : 'it cannot be parsed';
    const line = error instanceof YAMLException && error.mark ? ` in line ${String(error.mark.line + 1)}` : '';
    throw new Unacceptable(`${file} is not the YAML that a device can read: ${plain(reason)}${line}. Correct it.`);
  }
  if (countOf(value, new Map(), 0) > mostValues) {
    throw new Unacceptable(`${file} becomes too long when its aliases are written out: use fewer of them.`);
  }
  return value;

  function countOf(node: Yaml, known: Map<Yaml, number>, depth: number): number {
    if (typeof node === 'string' || node === null) return 1;
    const before = known.get(node);
    if (before !== undefined) return before;
    if (depth > deepest) {
      // A collection that contains itself is deeper than any number.
      throw new Unacceptable(
        `${file} nests more than ${String(deepest)} levels through its aliases: write it flatter.`,
      );
    }
    let count = 1;
    for (const child of Array.isArray(node) ? node : [...node.keys(), ...node.values()]) {
      count += countOf(child, known, depth + 1);
    }
    known.set(node, count);
    return count;
  }
}
