// larder release list, larder release save, larder release remove
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { noLarderRelease, removeLarderRelease } from '#acts/store/larder-releases.ts';
import { withBlobs } from '#data/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { version as installed } from '#platform/version.ts';
import { builtInKeys } from '#transfers/larder-release/release-keys.ts';
import { compareVersions, verifyRelease } from '#transfers/larder-release/verify-release.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { command } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { toWriteFailure, writeNew } from '../frame/outside-files.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { table, visible } from '../frame/terminal.ts';
import { withReleaseErrors } from './larder-release.ts';

const versionArgument = { name: 'version', summary: "The version, as in 'larder release list'." } as const;

export const releaseList = command({
  name: 'release list',
  summary: 'List the releases of larder that are kept from accepted transfers.',
  description: 'A kept release stays until it is removed. It is installed only by a person.',
  positionals: [],
  examples: ['larder release list', 'larder release list --json'],

  run: ({ data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const releases = [];
      for (const release of await records.larderReleases.list()) {
        const files = await records.larderReleases.files(release.version);
        releases.push({ ...release, bytes: files.reduce((sum, { size }) => sum + size, 0) });
      }
      releases.sort((a, b) => compareVersions(b.version, a.version));
      const rows = releases.map(({ version, released, bytes, source, acceptedAt }) => [
        version === installed ? `${version} (installed)` : version,
        released,
        formatBytes(bytes),
        visible(source),
        acceptedAt,
      ]);
      return {
        text:
          rows.length === 0
            ? `No release of larder is kept here; ${installed} is installed.`
            : table(['RELEASE', 'DAY', 'SIZE', 'FROM', 'ACCEPTED'], rows),
        json: {
          installed,
          releases: releases.map(({ commitId: commit, acceptedAt, acceptedBy, ...release }) => ({
            ...release,
            commit,
            'accepted-at': acceptedAt,
            'accepted-by': acceptedBy,
          })),
        },
      };
    }),
});

export const releaseSave = command({
  name: 'release save',
  summary: 'Write a kept release of larder to a new folder.',
  description: "'larder release install' accepts the folder. It is verified with the keys of this larder.",
  positionals: [versionArgument, { name: 'folder', summary: 'The new folder.' }],
  examples: ['larder release save 1.2.0 /media/stick/larder-1.2.0'],

  run: ({ positionals: { version, folder }, data, world }) =>
    withStore({ data, world }, (store) => interruptible((signal) => save(store, { version, folder, signal })), {
      writesOutside: true,
    }),
});

async function save(
  store: OpenStore,
  { version, folder, signal }: { version: string; folder: string; signal: AbortSignal },
) {
  const { asCaller, records } = store;
  const place = resolve(folder);
  const files = await records.larderReleases.files(version);
  if (files.length === 0) throw noLarderRelease(version);
  await asCaller(() => mkdir(place)).catch((error: unknown) => {
    throw toWriteFailure(folder, error);
  });
  try {
    await withBlobs(store, async ({ blobs }) => {
      for (const { name, sha3_384 } of files) {
        const blob = await blobs.open(sha3_384);
        if (blob === undefined)
          throw new Refusal('conflict', `${name} of release ${version} is missing here. 'larder verify' says more.`);
        await writeNew(join(place, name), asCaller, async (append) => {
          for await (const bytes of blob.stream as AsyncIterable<Buffer>) {
            signal.throwIfAborted();
            await append(bytes);
          }
        });
        // apt reads packages as a user of its own. A stick with FAT has no modes.
        await asCaller(() => chmod(join(place, name), 0o644)).catch(() => undefined);
      }
    });
    const verification = { trusted: builtInKeys(), installed: undefined };
    await withReleaseErrors(folder, () => asCaller(() => verifyRelease(place, verification)));
  } catch (error) {
    await asCaller(() => rm(place, { recursive: true, force: true }));
    throw error;
  }
  return {
    text: `Release ${version} is in ${visible(folder)}. 'larder release install' with that folder prints the command that installs it.`,
    json: { version, folder: place, files: files.length },
  };
}

export const releaseRemove = command({
  name: 'release remove',
  summary: 'Remove a kept release of larder. The installed program stays.',
  positionals: [versionArgument],
  examples: ['larder release remove 1.1.0 --yes'],
  confirm: {
    question: ({ positionals: { version } }) => `The files of release ${visible(version)} are removed from this store.`,
    unattended: 'refused',
  },

  run: ({ positionals: { version }, data, world }) =>
    withStore({ data, world }, async ({ acts, person }) => {
      await acts.do(removeLarderRelease, person, { version });
      return { text: `Release ${visible(version)} was removed.`, json: { version } };
    }),
});
