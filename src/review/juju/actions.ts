// Checks actions.yaml as juju reads it (juju/charm v12.1: actions.go): each action has a JSON schema of its parameters.
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { checkSchema } from './action-schema.ts';
import { decodeMembers } from './decode.ts';
import { isReservedName } from './relations.ts';
import { fileOf, isNonText, listOf, membersOf, mistyped, refused, textOf, within, type YamlPlace } from './values.ts';

const actionName = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
/** Keys of an action that are not about its parameters. */
const ownKeys = new Set(['description', 'title', 'required', 'parallel', 'execution-group', 'params']);

/** Checks the actions of the charm named `charm`. Throws `Unacceptable`. */
export function checkActions(document: TypedYaml, file: string, charm: string): void {
  const place = fileOf(file);
  for (const [name, action] of decodeMembers(document, place)) {
    if (!actionName.test(name))
      throw refused(place, `${quoted(name)} cannot be the name of an action`, 'Use small letters, digits and dashes.');
    if (isReservedName(charm, name))
      throw refused(place, `the name ${quoted(name)} of an action is juju's own`, 'Rename it.');
    checkAction(decodeMembers(action, within(place, name)), within(place, name));
  }
}

function checkAction(action: ReadonlyMap<string, TypedYaml>, place: YamlPlace): void {
  for (const key of ['description', 'title', 'execution-group'])
    if (action.has(key)) textOf(action.get(key), within(place, key));
  const parallel = action.get('parallel');
  if (action.has('parallel') && !(isNonText(parallel) && parallel.type === 'bool'))
    throw mistyped(within(place, 'parallel'), 'true or false', parallel);
  if (action.has('required')) listOf(action.get('required'), within(place, 'required'), textOf);
  const others = [...action].filter(([key]) => !ownKeys.has(key));
  const params = action.get('params');
  if (action.has('params') && !(params instanceof Map)) throw mistyped(within(place, 'params'), 'a mapping', params);
  for (const [key, value] of others) refuseForeign(value, within(place, key));
  if (params !== undefined) refuseForeign(params, within(place, 'params'));
  // The schema that juju builds from an action: an object with the parameters as properties.
  const schema = new Map<TypedYaml, TypedYaml>([
    ['type', 'object'],
    ['properties', params ?? new Map()],
    ...(action.has('required') ? ([['required', action.get('required')!]] as const) : []),
    ...others,
  ]);
  checkSchema(schema, place);
}

/** Refuses references to other schemas, which juju does not follow, and names that are not texts. */
function refuseForeign(value: TypedYaml, place: YamlPlace): void {
  if (Array.isArray(value)) {
    listOf(value, place, refuseForeign);
    return;
  }
  if (!(value instanceof Map)) return;
  for (const [key, member] of membersOf(value, place)) {
    if (key === '$ref' || key === '$schema')
      throw refused(
        place,
        `${quoted(key)} stands in ${quoted(place.path)}, and juju takes none`,
        'Write the schema out.',
      );
    refuseForeign(member, within(place, key));
  }
}
