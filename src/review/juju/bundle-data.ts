// Checks bundle.yaml as juju reads and verifies it (juju/charm v12.1: bundledata.go). Constraints of machines, storage
// and devices are not checked, because they depend on the release of juju.
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { checkApplication, readApplication, type BundleApplication } from './bundle-application.ts';
import { isApplicationName, isBaseText, isMachineId, isOfferAddress, isRelationName } from './charm-address.ts';
import { decodedList, decodedMap, decodedMembers, decodedText } from './decoded.ts';
import { isSeriesName } from './metadata.ts';
import { checkPlacements, type PlacedApplications } from './placement.ts';
import { fileOf, named, refused, within, type Members, type YamlPlace } from './values.ts';

interface BundleData extends PlacedApplications {
  /** Applications of other models. */
  remotes: ReadonlySet<string>;
}

/** Reads and verifies bundle.yaml. Throws `Unacceptable`. */
export function checkBundleData(document: TypedYaml, file: string): void {
  const place = fileOf(file);
  const members = decodedMembers(document, place);
  const type = decodedText(members.get('bundle'), within(place, 'bundle'));
  if (type !== '' && type !== 'kubernetes')
    throw refused(place, `'bundle' must be kubernetes where it is there, but is ${quoted(type)}`, 'Remove it.');
  const isKubernetes = type === 'kubernetes';
  checkTexts(members, place);
  const applications = decodedMap(members.get('applications'), within(place, 'applications'), (value, at) =>
    readApplication(value, at, isKubernetes),
  );
  if (applications.size === 0) throw refused(place, "it has no 'applications'", 'Say which charms the bundle deploys.');
  const data = {
    ...{ isKubernetes, applications },
    machines: readMachines(members, place, isKubernetes),
    remotes: readRemotes(members, place, applications),
  };
  for (const [name, application] of applications) checkApplication(name, application, place);
  checkPlacements(data, place);
  checkRelations(members.get('relations'), within(place, 'relations'), data);
}

function checkTexts(members: Members, place: YamlPlace): void {
  const at = (key: string): YamlPlace => within(place, key);
  decodedText(members.get('description'), at('description'));
  decodedList(members.get('tags'), at('tags'), decodedText);
  checkSystem(members, place, { series: 'series', base: 'default-base' });
}

/** Checks the series or the base of applications or machines. */
export function checkSystem(members: Members, place: YamlPlace, keys: { series: string; base: string }): void {
  const [series, base] = [keys.series, keys.base].map((key) => decodedText(members.get(key), within(place, key)));
  if (series !== '' && !isSeriesName(series!))
    throw refused(place, `the series ${quoted(series!)} in ${named(place)} cannot be one`);
  if (base !== '' && !isBaseText(base!))
    throw refused(place, `the base ${quoted(base!)} in ${named(place)} is none`, 'Write such as ubuntu@22.04.');
}

function readMachines(members: Members, place: YamlPlace, isKubernetes: boolean): ReadonlySet<string> {
  const at = within(place, 'machines');
  const machines = decodedMap(members.get('machines'), at, (value, one) => {
    const machine = decodedMembers(value, one);
    decodedText(machine.get('constraints'), within(one, 'constraints'));
    decodedMap(machine.get('annotations'), within(one, 'annotations'), decodedText);
    checkSystem(machine, one, { series: 'series', base: 'base' });
  });
  if (isKubernetes && machines.size > 0)
    throw refused(place, 'a bundle for Kubernetes names machines', "Remove 'machines'.");
  for (const id of machines.keys())
    if (!isMachineId(id)) throw refused(at, `${quoted(id)} cannot be the number of a machine`);
  return new Set(machines.keys());
}

function readRemotes(
  members: Members,
  place: YamlPlace,
  applications: ReadonlyMap<string, BundleApplication>,
): ReadonlySet<string> {
  const at = within(place, 'saas');
  const remotes = decodedMap(members.get('saas'), at, (value, one) =>
    decodedText(decodedMembers(value, one).get('url'), within(one, 'url')),
  );
  for (const [name, address] of remotes) {
    if (applications.has(name))
      throw refused(at, `${quoted(name)} is an application, and in 'saas' too`, 'Rename one.');
    if (!isApplicationName(name)) throw refused(at, `${quoted(name)} in 'saas' cannot be a name`, 'Rename it.');
    if (address !== '' && !isOfferAddress(address))
      throw refused(at, `the url of ${quoted(name)} in 'saas' is ${quoted(address)}, which is no offer`);
  }
  return new Set(remotes.keys());
}

interface Endpoint {
  application: string;
  relation: string;
}

function parseEndpoint(text: string): Endpoint | undefined {
  const [application = '', relation, ...others] = text.split(':');
  const isSound = isApplicationName(application) && others.length === 0;
  return isSound && (relation === undefined || isRelationName(relation))
    ? { application, relation: relation ?? '' }
    : undefined;
}

function checkRelations(value: TypedYaml | undefined, place: YamlPlace, { applications, remotes }: BundleData): void {
  const known = new Set<string>();
  for (const pair of decodedList(value, place, (one, at) => decodedList(one, at, decodedText))) {
    const written = quoted(pair.join(' '));
    if (pair.length !== 2)
      throw refused(place, `the relation ${written} has ${String(pair.length)} ends, and must have two`);
    const ends = pair.map(parseEndpoint);
    const [one, other] = ends;
    if (one === undefined || other === undefined)
      throw refused(
        place,
        `${quoted(pair[one === undefined ? 0 : 1]!)} is no end of a relation`,
        'Write such as db or db:server.',
      );
    const unknown = [one, other].find(({ application }) => !applications.has(application) && !remotes.has(application));
    if (unknown !== undefined)
      throw refused(
        place,
        `the relation ${written} names ${quoted(unknown.application)}, which the bundle does not have`,
      );
    if (one.application === other.application)
      throw refused(place, `the relation ${written} has the same application at both ends`, 'Remove it.');
    const key = [one, other]
      .map(({ application, relation }) => `${application}:${relation}`)
      .sort()
      .join(' ');
    if (known.has(key)) throw refused(place, `the relation ${written} stands there twice`, 'Remove one.');
    known.add(key);
  }
}
