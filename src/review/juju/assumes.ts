// Checks the requirements of a charm on juju (juju/charm v12, assumes/parser.go; versions as in juju/version v2).
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { describe, listOf, refused, type YamlPlace } from './values.ts';

const version = String.raw`\d{1,9}(?:\.\d{1,9}(?:-[a-z]+(?:\d{1,9})?|\.\d{1,9})?(?:\.\d{1,9})?)?`;
const feature = new RegExp(String.raw`^[a-z][a-z0-9-]*[a-z0-9]$`);
const featureWithVersion = new RegExp(String.raw`^([a-z][a-z0-9-]*[a-z0-9])\s*(?:>=|<)\s*(${version})$`);
/** The required version of juju: three numbers, or a tag instead of the third. */
const strictVersion = /^\d{1,9}\.\d{1,9}(?:-[a-z]+\d{1,9}|\.\d{1,9})(?:\.\d{1,9})?$/;
/** No person writes a longer expression. */
const longestExpression = 500;

export const isStrictVersion = (text: string): boolean => strictVersion.test(text);

/** Refuses expressions that juju cannot read. Valid are a feature, a feature with a version bound, `any-of` and `all-of`. */
export function checkAssumes(value: TypedYaml | undefined, place: YamlPlace): void {
  listOf(value, place, checkExpression);
}

function checkExpression(value: TypedYaml, place: YamlPlace): void {
  if (value instanceof Map) {
    checkComposite(value, place);
    return;
  }
  const text = typeof value === 'string' ? value.trim() : undefined;
  if (text === undefined)
    throw refused(
      place,
      `an expression under 'assumes' is ${describe(value)}, and must be a feature, any-of or all-of`,
    );
  if (text.length <= longestExpression && (feature.test(text) || featureWithVersion.test(text))) return;
  throw refused(place, `the expression ${quoted(text)} under 'assumes' is none`, "Write such as 'juju >= 3.1'.");
}

function checkComposite(value: Map<TypedYaml, TypedYaml>, place: YamlPlace): void {
  const [kind] = value.keys();
  if (value.size !== 1 || (kind !== 'any-of' && kind !== 'all-of'))
    throw refused(place, "a mapping under 'assumes' must have one key, any-of or all-of");
  const list = value.get(kind);
  if (!Array.isArray(list)) throw refused(place, `${kind} under 'assumes' must be a list, but is ${describe(list)}`);
  listOf(list, { ...place, path: `${place.path}.${kind}` }, checkExpression);
}
