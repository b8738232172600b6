// Globs of packages: `snap/*`, `charm/postgresql-*`.
import { matchesGlob } from '../releases/channel.ts';

/** Whether one of the globs matches a package. `*` matches any characters but a slash. */
export function fitsGlob(globs: readonly string[], { namespace, name }: { namespace: string; name: string }): boolean {
  return globs.some((glob) => {
    const [space = '', rest = ''] = glob.split('/', 2);
    return matchesGlob(space, namespace) && matchesGlob(rest, name);
  });
}

/** Whether a text is a valid glob of packages. */
export const isPackageGlob = (text: string): boolean => /^[a-z*]{1,16}\/[a-z0-9.+*-]{1,128}$/.test(text);
