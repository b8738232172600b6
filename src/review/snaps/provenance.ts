// Reads the provenance of a snap: it decides which key signs the revisions, as the snap's declaration allows.
import { readYaml } from '../yaml.ts';

/** The default provenance, which applies if a snap names none. */
const ofEveryStore = 'global-upload';

/** The provenance that a snap.yaml names; undefined for the default one. */
export function readProvenance(snapYaml: string): string | undefined {
  const document = readYaml(snapYaml, 'meta/snap.yaml');
  const provenance = document instanceof Map ? document.get('provenance') : undefined;
  return typeof provenance === 'string' && provenance !== '' && provenance !== ofEveryStore ? provenance : undefined;
}
