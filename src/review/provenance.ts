// Where a snap says that it comes from: revisions of the provenance that it names are signed by whomever its declaration lets.
import { readYaml } from './yaml.ts';

/** The provenance of every store, which is meant where a snap names none. */
const ofEveryStore = 'global-upload';

/** The provenance that a snap.yaml names; undefined where it is the one of every store. */
export function provenanceIn(snapYaml: string): string | undefined {
  const document = readYaml(snapYaml, 'meta/snap.yaml');
  const provenance = document instanceof Map ? document.get('provenance') : undefined;
  return typeof provenance === 'string' && provenance !== '' && provenance !== ofEveryStore ? provenance : undefined;
}
