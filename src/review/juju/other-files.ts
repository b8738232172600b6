// Checks small files of a charm that juju reads, too (juju/charm v12.1: metrics.go, lxdprofile.go and charmarchive.go).
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { decodeBoolean, decodeMap, decodeMembers, decodeText } from './decode.ts';
import { fileOf, refused, within } from './values.ts';

/** Checks metrics.yaml; names of metrics that begin with `juju` are reserved for juju. */
export function checkMetrics(document: TypedYaml, file: string): void {
  const place = fileOf(file);
  const members = decodeMembers(document, place);
  const plan = decodeMembers(members.get('plan'), within(place, 'plan'));
  decodeBoolean(plan.get('required'), within(place, 'plan.required'));
  decodeMap(members.get('metrics'), within(place, 'metrics'), (metric, at) => {
    const metricMembers = decodeMembers(metric, at);
    const [type, description] = ['type', 'description'].map((key) =>
      decodeText(metricMembers.get(key), within(at, key)),
    );
    const name = at.path.slice('metrics.'.length);
    if (name.startsWith('juju')) {
      if (type === '' && description === '') return;
      throw refused(place, `the metric ${quoted(name)} is juju's own, and must say nothing`, 'Rename it.');
    }
    if (type !== 'gauge' && type !== 'absolute')
      throw refused(place, `the type of the metric ${quoted(name)} must be gauge or absolute, but is ${quoted(type!)}`);
    if (description === '') throw refused(place, `the metric ${quoted(name)} has no description`, 'Add one.');
  });
}

/** Checks lxd-profile.yaml; the operator decides which devices and settings are allowed. */
export function checkLxdProfile(document: TypedYaml, file: string): void {
  const place = fileOf(file);
  const members = decodeMembers(document, place);
  decodeText(members.get('description'), within(place, 'description'));
  decodeMap(members.get('config'), within(place, 'config'), decodeText);
  decodeMap(members.get('devices'), within(place, 'devices'), (device, at) => decodeMap(device, at, decodeText));
}

/** Checks the file `revision`, which begins with a number. */
export function checkRevision(text: string, file: string): void {
  if (/^\s*[+-]?(?:0[xX][0-9a-fA-F]|\d)/.test(text.slice(0, 1000))) return;
  throw refused({ file }, 'it does not begin with a number', 'Remove it: the store counts the revisions.');
}
