// The release, as package.json states it; a build adds the commit that it was made from.
import { embeddedText } from './embedded.ts';

const stated = JSON.parse(embeddedText('package.json')) as { version: string; commit?: string };

export const version = stated.version;

/** The commit that this program was built from, in 40 hex digits; undefined in a checkout, and in a build from sources without history. */
export const commit = stated.commit;
