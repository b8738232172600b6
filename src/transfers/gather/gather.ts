// Gathers packages for a transfer from a folder that the official tools filled. Identifies files by their content, not by their names, and
// lists the reason for each file left out.
import { rm, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import type { TransferAccount, TransferLeftOut, TransferPackage } from '#contract/wire.ts';
import { readJson } from '#contract/json.ts';
import { parseStream, streamLimit, type Assertion } from '#assertions/format/assertion.ts';
import { checkAssertion } from '#assertions/format/types.ts';
import { Refusal, refusalReason } from '#domain/refusal.ts';
import { formatCount } from '#domain/quantities.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import type { TransferContents } from '../make/compose.ts';
import { firstMember, namesIn, unpack } from './archives.ts';
import { assertionsOfComponents, findComponentAssertions, takeComponent } from './components.ts';
import { readAt, visitFolder, type GatheredFile, type GatheredRange } from './folder.ts';
import { libraryIn, addReportedLibraries, takeLibrary } from './libraries.ts';
import { takeReleases, reportUnmetSubscriptions } from './releases.ts';
import { carriedAssertions, takeSnap } from './snaps.ts';
import { GatherState, type FolderGatherOptions, type ReportedSlot } from './gather-state.ts';
import { addImageReference, takeStoreFile, explainUnknown } from './store-files.ts';
import { GatheredTransfers } from './gathered-transfers.ts';

export interface GatheredFolder {
  accounts: TransferAccount[];
  packages: TransferPackage[];
  /** Streams of assertions. */
  assertions: string[];
  contents: TransferContents['contents'];
  leftOut: TransferLeftOut[];
  /** Missing dependencies of the gathered snaps, with the snaps that need them. */
  needs: { name: string; by: string[] }[];
  /** Channel contents according to the saved responses. */
  said: ReportedSlot[];
  /** File ranges of each content, by its SHA3-384. */
  places: Map<string, readonly GatheredRange[]>;
}

/** Inspects a folder and returns everything that a transfer can include. */
export async function gather(folder: string, gathering: FolderGatherOptions): Promise<GatheredFolder> {
  await rm(gathering.scratch, { recursive: true, force: true });
  const looking = new FolderGatherer(new GatherState(gathering));
  await looking.folder(folder, '', 0);
  return looking.collect();
}

/** Maximum length of a saved response. */
const maxResponseBytes = 64 * 1024 * 1024;
/** Maximum depth of nested archives. */
const maxArchiveDepth = 2;

class FolderGatherer {
  readonly #sorting: GatherState;
  readonly #transfers = new GatheredTransfers();
  readonly #all: GatheredFile[] = [];
  readonly #archives: { archive: GatheredFile; files: GatheredFile[] }[] = [];

  constructor(sorting: GatherState) {
    this.#sorting = sorting;
  }

  /** Inspects all files of a folder or of an inspectArchive archive. */
  async folder(path: string, name: string, depth: number): Promise<GatheredFile[]> {
    const files: GatheredFile[] = [];
    await visitFolder(path, name, {
      file: (file) => files.push(file),
      passed: (called, reason) => {
        this.#sorting.gathered.leave(called, reason);
      },
    });
    this.#all.push(...files);
    await this.#groups(files);
    for (const file of this.#open(files)) {
      if (file.kind === 'assertions') this.#assertions(file, await this.#textOf(file, streamLimit));
      if (file.kind === 'json') this.#answer(file, await this.#textOf(file, maxResponseBytes));
    }
    for (const file of this.#open(files)) {
      if (file.kind === 'tar') await this.#archive(file, depth);
      if (file.kind === 'gzip') await this.#inspectArchive(file, depth);
    }
    return files;
  }

  #open = (files: readonly GatheredFile[]): GatheredFile[] => files.filter((file) => !this.#sorting.isSettled(file));

  /** Handles folders that form one unit: image layouts and inspectArchive transfers. */
  async #groups(files: readonly GatheredFile[]): Promise<void> {
    const byFolder = Map.groupBy(files, ({ folder }) => folder);
    for (const [folder, inside] of byFolder) {
      const has = (name: string): GatheredFile | undefined => inside.find(({ path }) => basename(path) === name);
      const [layout, version] = [has('oci-layout'), has('version')];
      const name = dirname((layout ?? version ?? inside[0])!.name);
      if (layout !== undefined) {
        const within = files.filter(({ path }) => path.startsWith(`${folder}/`));
        await this.#whole(within, name, () => this.#sorting.images.addLayout(folder, name, within));
      } else if (version !== undefined && (await isDirectory(version))) {
        await this.#whole(inside, name, () => this.#sorting.images.addDirectory(name, inside));
      } else if (basename(folder) === 'larder' && has('statement.json') !== undefined) {
        const within = files.filter(({ path }) => path.startsWith(`${dirname(folder)}/`));
        await this.#whole(within, dirname(name), async () => {
          const reason = await this.#transfers.add(dirname(folder), dirname(name));
          if (reason !== undefined) throw new Refusal('api-error', reason);
        });
      }
    }
  }

  /** Handles files as one unit. A problem with one file excludes all of them. */
  async #whole(files: readonly GatheredFile[], name: string, work: () => Promise<void>): Promise<void> {
    for (const file of files) this.#sorting.used(file);
    const reason = await refusalReason(work);
    if (reason !== undefined) this.#sorting.gathered.leave(name, reason);
  }

  async #textOf(file: GatheredFile, maxBytes: number): Promise<string | undefined> {
    if (file.size <= maxBytes) return (await readAt(file.path, 0, file.size)).toString();
    this.#sorting.refused(
      file,
      `It is longer than ${String(maxBytes)} bytes, which is too long for this kind of file.`,
    );
    return undefined;
  }

  #assertions(file: GatheredFile, text: string | undefined): void {
    if (text === undefined) return;
    try {
      for (const assertion of parseStream(text.endsWith('\n') ? text : `${text}\n`)) {
        checkAssertion(assertion);
        const other = this.#sorting.pool.add(assertion, file.name);
        if (other === undefined) this.#sorting.used(file);
        else this.#sorting.refused(file, `It holds another text than ${other} of one assertion.`);
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#sorting.refused(file, error.message);
    }
  }

  #answer(file: GatheredFile, text: string | undefined): void {
    if (text === undefined) return;
    try {
      if (this.#sorting.answers.add(readJson(text))) this.#sorting.used(file);
    } catch (error) {
      // A file that only starts like JSON may be a resource of a charm.
      if (!(error instanceof Refusal)) throw error;
    }
  }

  async #archive(file: GatheredFile, depth: number): Promise<void> {
    if ((await firstMember(file)) === 'larder/statement.json') {
      const reason = await this.#transfers.add(file.path, file.name);
      if (reason === undefined) this.#sorting.used(file);
      else this.#sorting.refused(file, `It cannot be read as a transfer. ${reason}`);
      return;
    }
    const names = namesIn(file);
    if (typeof names === 'string') return;
    if (names.has('oci-layout')) {
      try {
        await this.#sorting.images.addArchive(file);
      } catch (error) {
        if (!(error instanceof Refusal || error instanceof Unacceptable)) throw error;
      }
    } else if (names.has('manifest.json') && names.has('repositories')) {
      this.#sorting.refused(file, dockerArchive);
    } else await this.#inspectArchive(file, depth);
  }

  /** Inspects the contents of an archive, unless a saved response describes the archive itself. */
  async #inspectArchive(file: GatheredFile, depth: number): Promise<void> {
    const { answers, gathering } = this.#sorting;
    if (depth >= maxArchiveDepth) return;
    if (answers.speaksOfSize(file.size)) {
      await this.#sorting.digest([file]);
      if (answers.filesLike(this.#sorting.digestsOf(file)).length > 0) return;
    }
    const folder = join(gathering.scratch, String(this.#archives.length + 1));
    const archive = { archive: file, files: [] as GatheredFile[] };
    this.#archives.push(archive);
    await mkdir(gathering.scratch, { recursive: true, mode: 0o700 });
    const reason = await unpack(file, folder);
    if (reason !== undefined) this.#sorting.refused(file, reason);
    else archive.files.push(...(await this.folder(folder, file.name, depth + 1)));
  }

  /** Returns everything that a transfer can include. */
  async collect(): Promise<GatheredFolder> {
    const sorting = this.#sorting;
    await this.#transfers.readAssertions(sorting);
    const names = this.#transfers.take(sorting);
    names.push(...(await this.#snaps()));
    await this.#storeFiles();
    await addReportedLibraries(sorting);
    takeReleases(sorting);
    reportUnmetSubscriptions(sorting);
    this.#settle();
    const { packages, accounts } = sorting.gathered.toStatementLists();
    const carried = new Set(packages.flatMap(({ revisions }) => revisions.flatMap(({ assertion }) => assertion ?? [])));
    const { contents } = sorting.gathered;
    const snapNames = new Set(packages.filter(({ namespace }) => namespace === 'snap').map(({ name }) => name));
    const needs = [...sorting.needs]
      .filter(([name]) => !snapNames.has(name))
      .map(([name, dependents]) => ({ name, by: [...dependents].sort() }));
    return {
      needs,
      said: sorting.reportedSlots,
      packages,
      accounts,
      contents,
      leftOut: sorting.gathered.leftOut,
      assertions: carriedAssertions(
        [...names.filter((name) => carried.has(name)), ...assertionsOfComponents(packages, sorting)],
        sorting,
      ),
      places: new Map([...contents.keys()].map((sha3) => [sha3, sorting.gathered.placesOf(sha3)])),
    };
  }

  async #snaps(): Promise<string[]> {
    const names: string[] = [];
    const snaps = this.#open(this.#all).filter(({ kind }) => kind === 'squashfs');
    await this.#sorting.digest(snaps);
    const assertionsByDigest = findComponentAssertions(this.#sorting);
    const components: (() => void)[] = [];
    for (const [at, file] of snaps.entries()) {
      this.#sorting.gathering.progress('looking', at + 1, snaps.length);
      const component = assertionsByDigest.get(this.#sorting.digestsOf(file).sha3_384);
      if (component !== undefined) {
        components.push(() => {
          this.#component(file, component);
        });
        continue;
      }
      const taken = await takeSnap(file, this.#sorting);
      if ('assertion' in taken) {
        names.push(taken.assertion);
        this.#sorting.used(file);
      } else this.#sorting.refused(file, taken.reason);
    }
    for (const take of components) take();
    return names;
  }

  #component(file: GatheredFile, assertion: Assertion): void {
    const taken = takeComponent(file, assertion, this.#sorting);
    if (taken === 'taken') this.#sorting.used(file);
    else this.#sorting.refused(file, taken.reason);
  }

  /** Adds the files that saved responses describe. Reports all others. */
  async #storeFiles(): Promise<void> {
    const sorting = this.#sorting;
    const isSpokenOf = ({ kind, size }: GatheredFile): boolean => kind === 'zip' || sorting.answers.speaksOfSize(size);
    const files = this.#all.filter((file) => !sorting.isUsed(file));
    await sorting.digest(files.filter(isSpokenOf));
    for (const file of files) {
      const library = await libraryIn(file);
      const taken =
        (isSpokenOf(file) ? await takeStoreFile(file, sorting) : undefined) ??
        (library === undefined ? undefined : await takeLibrary(file, library, sorting)) ??
        (file.kind === 'json' ? await addImageReference(file, sorting) : undefined);
      if (taken === 'taken') sorting.used(file);
      else if (taken !== undefined) sorting.refused(file, taken.reason);
      else if (!sorting.isSettled(file)) sorting.refused(file, await explainUnknown(file, sorting));
    }
  }

  /** Records why each file is left out. For an archive without usable files, reports only the archive. */
  #settle(): void {
    const sorting = this.#sorting;
    for (const { archive, files } of this.#archives.toReversed()) {
      if (files.some((file) => sorting.isUsed(file))) sorting.used(archive);
      else {
        for (const file of files) sorting.forget(file);
        if (files.length > 0)
          sorting.refused(
            archive,
            `It is an archive of ${formatCount(files.length, 'file')}, and none can be part of a transfer.`,
          );
      }
    }
    for (const [digest, name] of sorting.images.roots)
      sorting.gathered.leave(
        name,
        `No resource of a charm in the folder names the image sha256:${digest} that lies there.`,
      );
    for (const { name, reason } of sorting.leftOut()) sorting.gathered.leave(name, reason);
  }
}

const dockerArchive =
  "It is an archive of docker, which changes the digests of images. Copy the image with 'skopeo copy --all --preserve-digests' to oci: or dir:.";

const isDirectory = async ({ path }: GatheredFile): Promise<boolean> =>
  (await readAt(path, 0, 32)).toString('latin1').startsWith('Directory Transport Version: ');
