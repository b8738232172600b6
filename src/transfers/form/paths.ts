// How a transfer lies in a folder when it is unpacked: plain files under the names that people know them by, so that a virus scanner
// can read them. The names follow from the statement, whose patterns leave no room for another folder.
import type { Statement } from '#acts/transfer-statement.ts';
import { endings, filesOf } from './artifacts.ts';

/** The names of files have 255 bytes at most on most file systems. */
const longest = 200;

/** The path of each blob in the folder, in the order of the blobs; no two are the same, also where capitals do not count. */
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

/** No pattern of a statement has a tilde, so that this is the name of nothing else. */
function toldApart(path: string, sha256: string): string {
  const ending = [...endings.values()].find((one) => path.endsWith(one)) ?? '';
  return `${path.slice(0, path.length - ending.length).slice(0, longest - 70)}~${sha256}${ending}`;
}

/** What `sha256sum --check` reads. */
export const sumsName = 'SHA256SUMS';

export const sumsOf = ({ blobs }: Pick<Statement, 'blobs'>, paths: readonly string[]): string =>
  [...blobs].map(({ sha256 }, at) => `${sha256}  ${paths[at]!}\n`).join('');
