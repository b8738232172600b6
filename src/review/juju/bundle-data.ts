// Checks bundle.yaml as juju reads and verifies it (juju/charm v12.1: bundledata.go). Constraints of machines, storage
// and devices are not checked, because they depend on the release of juju.
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { checkApplication, readApplication, type BundleApplication } from './bundle-application.ts';
import { isApplicationName, isBaseText, isMachineId, isOfferAddress, isRelationName } from './charm-address.ts';
import { decodeList, decodeMap, decodeMembers, decodeText } from './decode.ts';
import { isSeriesName } from './metadata.ts';
import { checkPlacements, type PlacedApplications } from './placement.ts';
import { fileOf, describePlace, refused, within, type YamlMembers, type YamlPlace } from './values.ts';

interface BundleData extends PlacedApplications {
  /** Applications of other models. */
  remotes: ReadonlySet<string>;
}

/** Reads and verifies bundle.yaml. Throws `Unacceptable`. */
export function checkBundleData(document: TypedYaml, file: string): void {
  const place = fileOf(file);
  const members = decodeMembers(document, place);
  const type = decodeText(members.get('bundle'), within(place, 'bundle'));
  if (type !== '' && type !== 'kubernetes')
    throw refused(place, `'bundle' must be kubernetes where it is there, but is ${quoted(type)}`, 'Remove it.');
  const isKubernetes = type === 'kubernetes';
  checkTexts(members, place);
  const applications = decodeMap(members.get('applications'), within(place, 'applications'), (value, at) =>
    readApplication(value, at, isKubernetes),
  );
  if (applications.size === 0) throw refused(place, "it has no 'applications'", 'Say which charms the bundle deploys.');
  const data = {
    isKubernetes,
    applications,
    machines: readMachines(members, place, isKubernetes),
    remotes: readRemotes(members, place, applications),
  };
  for (const [name, application] of applications) checkApplication(name, application, place);
  checkPlacements(data, place);
  checkRelations(members.get('relations'), within(place, 'relations'), data);
}

function checkTexts(members: YamlMembers, place: YamlPlace): void {
  const at = (key: string): YamlPlace => within(place, key);
  decodeText(members.get('description'), at('description'));
  decodeList(members.get('tags'), at('tags'), decodeText);
  checkSystem(members, place, { series: 'series', base: 'default-base' });
}

/** Checks the series or the base of applications or machines. */
export function checkSystem(members: YamlMembers, place: YamlPlace, keys: { series: string; base: string }): void {
  const [series, base] = [keys.series, keys.base].map((key) => decodeText(members.get(key), within(place, key)));
  if (series !== '' && !isSeriesName(series!))
    throw refused(place, `the series ${quoted(series!)} in ${describePlace(place)} cannot be one`);
  if (base !== '' && !isBaseText(base!))
    throw refused(place, `the base ${quoted(base!)} in ${describePlace(place)} is none`, 'Write such as ubuntu@22.04.');
}

function readMachines(members: YamlMembers, place: YamlPlace, isKubernetes: boolean): ReadonlySet<string> {
  const at = within(place, 'machines');
  const machines = decodeMap(members.get('machines'), at, (value, machinePlace) => {
    const machine = decodeMembers(value, machinePlace);
    decodeText(machine.get('constraints'), within(machinePlace, 'constraints'));
    decodeMap(machine.get('annotations'), within(machinePlace, 'annotations'), decodeText);
    checkSystem(machine, machinePlace, { series: 'series', base: 'base' });
  });
  if (isKubernetes && machines.size > 0)
    throw refused(place, 'a bundle for Kubernetes names machines', "Remove 'machines'.");
  for (const id of machines.keys())
    if (!isMachineId(id)) throw refused(at, `${quoted(id)} cannot be the number of a machine`);
  return new Set(machines.keys());
}

function readRemotes(
  members: YamlMembers,
  place: YamlPlace,
  applications: ReadonlyMap<string, BundleApplication>,
): ReadonlySet<string> {
  const at = within(place, 'saas');
  const remotes = decodeMap(members.get('saas'), at, (value, remotePlace) =>
    decodeText(decodeMembers(value, remotePlace).get('url'), within(remotePlace, 'url')),
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
  const seen = new Set<string>();
  for (const pair of decodeList(value, place, (relation, at) => decodeList(relation, at, decodeText))) {
    const written = quoted(pair.join(' '));
    if (pair.length !== 2)
      throw refused(place, `the relation ${written} has ${String(pair.length)} ends, and must have two`);
    const ends = pair.map(parseEndpoint);
    const [first, other] = ends;
    if (first === undefined || other === undefined)
      throw refused(
        place,
        `${quoted(pair[first === undefined ? 0 : 1]!)} is no end of a relation`,
        'Write such as db or db:server.',
      );
    const unknown = [first, other].find(
      ({ application }) => !applications.has(application) && !remotes.has(application),
    );
    if (unknown !== undefined)
      throw refused(
        place,
        `the relation ${written} names ${quoted(unknown.application)}, which the bundle does not have`,
      );
    if (first.application === other.application)
      throw refused(place, `the relation ${written} has the same application at both ends`, 'Remove it.');
    const key = [first, other]
      .map(({ application, relation }) => `${application}:${relation}`)
      .sort()
      .join(' ');
    if (seen.has(key)) throw refused(place, `the relation ${written} stands there twice`, 'Remove one.');
    seen.add(key);
  }
}
