// Globs of packages: `snap/*`, `charm/postgresql-*`.
import type { Namespace } from './namespace.ts';

/** Whether one of the globs, in which `*` stands for any letters but a slash, fits a package. */
export function fitsGlob(globs: readonly string[], { namespace, name }: { namespace: Namespace; name: string }): boolean {
  return globs.some((glob) => {
    const [space = '', rest = ''] = glob.split('/', 2);
    return fits(space, namespace) && fits(rest, name);
  });
}

/** Whether this may be a glob of packages. */
export const isPackageGlob = (text: string): boolean => /^[a-z*]{1,16}\/[a-z0-9.+*-]{1,128}$/.test(text);

/** From left to right, each piece at its first place: no glob costs more than its length times that of the text. */
function fits(glob: string, text: string): boolean {
  const [first = '', ...others] = glob.split('*');
  const last = others.pop();
  if (last === undefined) return glob === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
