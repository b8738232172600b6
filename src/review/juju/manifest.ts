// Reads manifest.yaml as juju does (juju/charm v12.1: manifest.go, base.go and channel.go; architectures as in
// juju/utils v3, arch/arch.go).
import { Unacceptable, quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { fileOf, listOf, membersOf, optional, refused, textOf, type YamlPlace } from './values.ts';

export interface CharmBase {
  name: string;
  /** The track of the base's channel, which juju asks for: `22.04` of `22.04/stable`. */
  channel: string;
  /** In juju's names; an empty list means all. */
  architectures: string[];
}

const systems = ['ubuntu', 'centos', 'windows', 'osx', 'opensuse', 'genericlinux'];
const architectures = ['amd64', 'i386', 'armhf', 'arm64', 'ppc64el', 's390x', 'riscv64'];
/** The names that machines report, in juju's order; the first match counts. */
const spellings: [RegExp, string][] = [
  [/amd64|x86_64/, 'amd64'],
  [/[3-9]86/, 'i386'],
  [/arm$|armv/, 'armhf'],
  [/aarch64/, 'arm64'],
  [/ppc64/, 'ppc64el'],
  [/s390x/, 's390x'],
  [/riscv64|risc$|risc-[vV]64/, 'riscv64'],
];
const risks = ['stable', 'candidate', 'beta', 'edge'];
/** Channels and architectures become parts of slot names in the store. */
const track = /^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/;

/** juju's name for an architecture. */
export function normalizeArchitecture(text: string): string {
  const trimmed = text.trim();
  return spellings.find(([pattern]) => pattern.test(trimmed))?.[1] ?? trimmed;
}

/** Reads the bases of a manifest; an empty file has none. Throws `Unacceptable`. */
export function readManifest(document: TypedYaml, file: string): CharmBase[] {
  const place = fileOf(file);
  if (document === null) return [];
  return listOf(membersOf(document, place).get('bases'), { ...place, path: 'bases' }, baseOf);
}

function baseOf(value: TypedYaml, place: YamlPlace): CharmBase {
  const members = membersOf(value, place);
  const name = optional(members, 'name', place, textOf) ?? '';
  const channel = optional(members, 'channel', place, textOf) ?? '';
  const listed = optional(members, 'architectures', place, (list, at) => listOf(list, at, textOf)) ?? [];
  if (!systems.includes(name)) {
    const problem = name === '' ? 'a base has no name' : `${quoted(name)} is no base that juju knows`;
    throw refused(place, problem, `Name one of ${systems.join(', ')}.`);
  }
  const normalized = listed.map(normalizeArchitecture);
  const unknown = normalized.find((architecture) => !architectures.includes(architecture));
  if (unknown !== undefined)
    throw refused(
      place,
      `${quoted(unknown)} is no architecture that juju knows`,
      `Name one of ${architectures.join(', ')}.`,
    );
  return { name, channel: trackOf(channel, place), architectures: normalized };
}

/** The track of a base's channel, or its risk if it has no track. */
function trackOf(channel: string, place: YamlPlace): string {
  const parts = channel.split('/');
  const [first = '', second] = parts;
  const startsWithRisk = risks.includes(first) && parts.length < 3;
  const risk = startsWithRisk ? first : second;
  const isSound =
    parts.length <= 3 && parts.every((part) => part !== '') && (risk === undefined || risks.includes(risk));
  if (!isSound)
    throw refused(place, `the channel ${quoted(channel)} of a base is none`, 'Write such as 22.04 or 22.04/stable.');
  if (!track.test(first))
    throw new Unacceptable(
      `The channel ${quoted(channel)} of a base in ${place.file} is not possible here: use letters, digits and ._+- in it.`,
    );
  return first;
}
