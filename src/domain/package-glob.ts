// Globs of packages: `snap/*`, `charm/postgresql-*`.
import { matchesGlob } from './channel.ts';

/** Whether one of the globs, in which `*` stands for any letters but a slash, fits a package. */
export function fitsGlob(globs: readonly string[], { namespace, name }: { namespace: string; name: string }): boolean {
  return globs.some((glob) => {
    const [space = '', rest = ''] = glob.split('/', 2);
    return matchesGlob(space, namespace) && matchesGlob(rest, name);
  });
}

/** Whether this may be a glob of packages. */
export const isPackageGlob = (text: string): boolean => /^[a-z*]{1,16}\/[a-z0-9.+*-]{1,128}$/.test(text);
