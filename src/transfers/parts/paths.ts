// Names the files of an unpacked transfer: plain files with readable names, so that a virus scanner can read them. The patterns of the
// statement ensure that no path leaves the folder.
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import { endings, filesOf } from './artifacts.ts';

/** Maximum length of a name. Most file systems allow 255 bytes. */
const maxPathLength = 200;

/** Returns the path of each blob in the folder, in blob order. Paths are unique even on case-insensitive file systems. */
export function pathsOf({
  packages,
  assertions,
  feeds = [],
  'larder-releases': releases = [],
  blobs,
}: Pick<LazyTransferStatement, 'packages' | 'assertions' | 'feeds' | 'larder-releases' | 'blobs'>): string[] {
  const pathBySha256 = new Map<string, string>();
  const name = (sha256: string, path: string): void => {
    if (!pathBySha256.has(sha256)) pathBySha256.set(sha256, path);
  };
  for (const [at, { sha256 }] of assertions.entries()) name(sha256, `assertions/${String(at + 1)}.assert`);
  for (const { name: feed, content } of feeds) name(content.sha256, `feeds/${feed}`);
  for (const { version, files } of releases)
    for (const file of files) name(file.content.sha256, `larder/${version}/${file.name}`);
  for (const entry of packages) {
    for (const { sha256, title } of filesOf(entry)) name(sha256, `${entry.namespace}/${title}`);
    for (const { manifests, blobs: layers } of entry.images) {
      for (const { sha256 } of [...manifests.map(({ content }) => content), ...layers])
        name(sha256, `images/${sha256}`);
    }
    const { icon = null } = entry;
    if (icon !== null) name(icon.content.sha256, `icons/${entry.namespace}_${entry.name}.${icon.ending}`);
  }
  const paths = [...blobs].map(({ sha256 }) => pathBySha256.get(sha256) ?? `others/${sha256}`);
  const alike = Map.groupBy(paths, (path) => path.toLowerCase());
  return paths.map((path, at) =>
    path.length <= maxPathLength && alike.get(path.toLowerCase())!.length === 1
      ? path
      : toldApart(path, blobs.at(at)!.sha256),
  );
}

/** No pattern of a statement allows a tilde, so this name is unique. */
function toldApart(path: string, sha256: string): string {
  const ending = [...endings.values()].find((extension) => path.endsWith(extension)) ?? '';
  return `${path.slice(0, path.length - ending.length).slice(0, maxPathLength - 70)}~${sha256}${ending}`;
}

/** The format of `sha256sum --check`. */
export const sumsName = 'SHA256SUMS';

export const sumsOf = ({ blobs }: Pick<LazyTransferStatement, 'blobs'>, paths: readonly string[]): string =>
  [...blobs].map(({ sha256 }, at) => `${sha256}  ${paths[at]!}\n`).join('');
