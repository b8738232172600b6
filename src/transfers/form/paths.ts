// Names the files of an unpacked transfer: plain files with readable names, so that a virus scanner can read them. The patterns of the
// statement ensure that no path leaves the folder.
import type { Statement } from '#acts/transfer-statement.ts';
import { endings, filesOf } from './artifacts.ts';

/** Maximum length of a name. Most file systems allow 255 bytes. */
const longest = 200;

/** Returns the path of each blob in the folder, in blob order. Paths are unique even on case-insensitive file systems. */
export function pathsOf({
  packages,
  assertions,
  blobs,
}: Pick<Statement, 'packages' | 'assertions' | 'blobs'>): string[] {
  const named = new Map<string, string>();
  const name = (sha256: string, path: string): void => {
    if (!named.has(sha256)) named.set(sha256, path);
  };
  for (const [at, { sha256 }] of assertions.entries()) name(sha256, `assertions/${String(at + 1)}.assert`);
  for (const one of packages) {
    for (const { sha256, title } of filesOf(one)) name(sha256, `${one.namespace}/${title}`);
    for (const { manifests, blobs: layers } of one.images) {
      for (const { sha256 } of [...manifests.map(({ content }) => content), ...layers])
        name(sha256, `images/${sha256}`);
    }
    const { icon = null } = one;
    if (icon !== null) name(icon.content.sha256, `icons/${one.namespace}_${one.name}.${icon.ending}`);
  }
  const paths = [...blobs].map(({ sha256 }) => named.get(sha256) ?? `others/${sha256}`);
  const alike = Map.groupBy(paths, (path) => path.toLowerCase());
  return paths.map((path, at) =>
    path.length <= longest && alike.get(path.toLowerCase())!.length === 1
      ? path
      : toldApart(path, blobs.at(at)!.sha256),
  );
}

/** No pattern of a statement allows a tilde, so this name is unique. */
function toldApart(path: string, sha256: string): string {
  const ending = [...endings.values()].find((one) => path.endsWith(one)) ?? '';
  return `${path.slice(0, path.length - ending.length).slice(0, longest - 70)}~${sha256}${ending}`;
}

/** The format of `sha256sum --check`. */
export const sumsName = 'SHA256SUMS';

export const sumsOf = ({ blobs }: Pick<Statement, 'blobs'>, paths: readonly string[]): string =>
  [...blobs].map(({ sha256 }, at) => `${sha256}  ${paths[at]!}\n`).join('');
