// Reads the relations of a charm and its extra bindings (juju/charm v12, meta.go and extra_bindings.go).
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import {
  booleanOf,
  describe,
  integerOf,
  mapOf,
  membersOf,
  describePlace,
  oneOf,
  optional,
  refused,
  textOf,
  within,
  type YamlMembers,
  type YamlPlace,
} from './values.ts';

export interface CharmRelation {
  interface: string;
  scope: 'global' | 'container';
}

export const relationRoles = ['provides', 'requires', 'peers'] as const;
export type CharmRelations = Record<(typeof relationRoles)[number], Map<string, CharmRelation>>;

/** Reads a relation, given by its interface alone or with attributes. */
function relationOf(value: TypedYaml, place: YamlPlace): CharmRelation {
  if (typeof value === 'string') return { interface: value, scope: 'global' };
  const members = membersOf(value, place);
  optional(members, 'limit', place, (limit, at) => (limit === null ? undefined : integerOf(limit, at)));
  optional(members, 'optional', place, booleanOf);
  const scope = optional(members, 'scope', place, oneOf('global', 'container')) ?? 'global';
  return { interface: textOf(members.get('interface'), within(place, 'interface')), scope };
}

export function readRelations(metadata: YamlMembers, place: YamlPlace): CharmRelations {
  const read = (role: string): Map<string, CharmRelation> =>
    optional(metadata, role, place, (value, at) => mapOf(value, at, relationOf)) ?? new Map<string, CharmRelation>();
  return { provides: read('provides'), requires: read('requires'), peers: read('peers') };
}

/** Whether a name is reserved for juju; a charm may use such names if its own begins with `juju-`. */
export const isReservedName = (charm: string, name: string): boolean =>
  !charm.startsWith('juju-') && (name === 'juju' || name.startsWith('juju-'));

interface RelatedCharm {
  name: string;
  isSubordinate: boolean;
  relations: CharmRelations;
}

/** Refuses names that are reserved or used twice, and a subordinate charm without a relation to a principal. */
export function checkRelations({ name: charm, isSubordinate, relations }: RelatedCharm, place: YamlPlace): void {
  const seen = new Set<string>();
  for (const role of relationRoles) {
    for (const [name, relation] of relations[role]) {
      const isContained = isSubordinate && role === 'requires' && relation.scope === 'container';
      if (!isContained && isReservedName(charm, name)) throw reserved(place, `the relation ${quoted(name)}`);
      if (role !== 'requires' && isReservedName(charm, relation.interface))
        throw reserved(place, `the interface ${quoted(relation.interface)} of the relation ${quoted(name)}`);
      if (seen.has(name))
        throw refused(place, `two relations are called ${quoted(name)}`, 'Give each relation a name of its own.');
      seen.add(name);
    }
  }
  const canRelate = [...relations.requires.values()].some(({ scope }) => scope === 'container');
  if (isSubordinate && !canRelate) {
    const problem = "a subordinate charm needs a relation under 'requires' with 'scope: container'";
    throw refused(place, problem, 'Add one, or remove the key subordinate.');
  }
}

const reserved = (place: YamlPlace, whose: string) =>
  refused(place, `the name of ${whose} is juju's own ('juju', and all that begin with 'juju-')`, 'Rename it.');

/** Checks bindings that are not relations: names without values. */
export function checkExtraBindings(value: TypedYaml, place: YamlPlace, relations: CharmRelations): void {
  const isMapping = value instanceof Map;
  if (!isMapping || value.size === 0)
    throw refused(
      place,
      `${describePlace(place)} must be a mapping of names, but is ${isMapping ? 'empty' : describe(value)}`,
    );
  for (const [name, content] of value) {
    if (typeof name !== 'string' || name === '')
      throw refused(place, `a name in ${describePlace(place)} must be text, but is ${describe(name)}`);
    if (content !== null)
      throw refused(
        place,
        `${quoted(name)} in ${describePlace(place)} must have no value, but has ${describe(content)}`,
      );
    if (relationRoles.some((role) => relations[role].has(name)))
      throw refused(place, `${quoted(name)} in ${describePlace(place)} is the name of a relation`, 'Remove it.');
  }
}
