// larder doctor
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { days } from '#domain/clock.ts';
import { problemOf } from '#jobs/remember-time.ts';
import { checkDatabase } from '#records/check.ts';
import { readCertificates } from '#tls/keeper.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import { siteFiles, siteProblems } from '#tls/site.ts';
import { occupied, withBlobs } from '#src/appliance.ts';
import { ConfigError, readConfig, type Config } from '#src/config.ts';
import { leavesMemory } from '#src/core-dumps.ts';
import { command } from './command.ts';
import { masterKeyOf } from './keys.ts';
import { becomeOwner } from './owner.ts';
import { servingState } from './serving.ts';
import { bytes } from './status.ts';
import { openUpgraded } from './store.ts';
import { style } from './terminal.ts';

interface Finding {
  what: string;
  good: boolean;
  says: string;
  /** What to do about it. */
  mend?: string;
}

export const doctor = command({
  name: 'doctor',
  summary: 'Check everything the store stands on, and say how to mend what is wrong.',
  description:
    'Looks at the configuration, the keys, who may read the files, the disk, the clock, the certificate, the database ' +
    "and the blobs, quickly; 'larder verify' reads every byte. It changes nothing. Exit code 1 means that something is wrong.",
  examples: ['larder doctor', 'larder doctor --json'],

  async run({ data, world }) {
    becomeOwner(data);
    const findings: Finding[] = [];
    const examine = async (
      what: string,
      look: () => Omit<Finding, 'what'> | Promise<Omit<Finding, 'what'>>,
    ): Promise<void> => {
      try {
        findings.push({ what, ...(await look()) });
      } catch (error) {
        const says = error instanceof Error ? error.message : String(error);
        findings.push({
          what,
          good: false,
          says,
          ...(error instanceof ConfigError && { mend: 'Correct larder.toml; the line is named above.' }),
        });
      }
    };

    let config: Config | undefined;
    await examine('Configuration', () => {
      config = readConfig(join(data, 'larder.toml'));
      return { good: true, says: `larder.toml is good; clients use ${config.http.base_url}` };
    });
    await examine('Permissions', () => {
      const open = readdirSync(data).filter((name) => !name.startsWith('store.lock') && isOpen(join(data, name)));
      if (isOpen(data)) open.unshift('.');
      return open.length === 0
        ? { good: true, says: 'nobody but the owner can look into the data directory' }
        : { good: false, says: `others can read or write ${open.join(', ')}`, mend: `chmod -R go= ${data}` };
    });
    await examine('Disk', () => {
      const { diskFreeBytes: free, diskSizeBytes: size } = occupied(data);
      const wanted = (config?.uploads.reserve ?? 0) * 2;
      const says = `${bytes(free)} of ${bytes(size)} are free`;
      return free > wanted
        ? { good: true, says }
        : { good: false, says, mend: 'Make room on the disk: uploads stop when uploads.reserve is reached.' };
    });
    const settings = config;
    if (settings !== undefined) {
      await examine('Signing key', () =>
        masterKeyOf({ directory: data, config: settings }, world)
          ? { good: true, says: 'the signing master key is there' }
          : {
              good: false,
              says: 'the store is sealed and signs nothing',
              mend:
                'Put master.key back into the data directory, or set keys.master_key_file or keys.passphrase_file; a key ' +
                'that systemd keeps encrypted is there while the service runs.',
            },
      );
      await examine('Certificate', () => certificate(data, settings));
      await examine('Server', () => {
        const serving = servingState(data);
        const failing = serving?.jobs.filter(({ problem }) => problem !== undefined) ?? [];
        if (serving === undefined) return { good: true, says: 'the store is not being served at the moment' };
        if (failing.length > 0)
          return {
            good: false,
            says: `these jobs fail: ${failing.map(({ name, problem }) => `${name} (${problem!})`).join(', ')}`,
            mend: 'The log of the server says more.',
          };
        return {
          good: true,
          says: `served since ${serving.since} by process ${String(serving.pid)}; all jobs go well`,
        };
      });
      await examine('Core dumps', () => coreDumps(servingState(data)?.pid));
      await examine('Records', async () => {
        const store = await openUpgraded(data, world);
        try {
          const { records, now } = store;
          await examine('Clock', async () => {
            const kept = await records.appliance.find('latest-time');
            const problem = kept === undefined ? undefined : problemOf(now(), kept);
            return problem === undefined
              ? { good: true, says: `the clock says ${now().toISOString()}` }
              : { good: false, says: problem };
          });
          await examine('Blobs', async () => {
            const damaged = await records.damagedBlobs.list(10);
            return damaged.length === 0
              ? { good: true, says: 'no blob is known to be damaged' }
              : {
                  good: false,
                  says: `damaged and out of service: ${damaged.map(({ sha3_384 }) => sha3_384.slice(0, 12)).join(', ')}`,
                  mend: 'Upload the same files again, or restore them from a backup.',
                };
          });
          await examine('Registry', async () => {
            const { external, notifications } = settings.registry;
            if (external === undefined) return { good: true, says: 'the store keeps images itself' };
            if (!notifications) return { good: true, says: `${external} keeps the images, and tells nothing of them` };
            return (await records.externalImages.hasAnyOf(external))
              ? { good: true, says: `${external} keeps the images, and tells this store of them` }
              : {
                  good: true,
                  says: `${external} keeps the images, and has told of none yet`,
                  mend: "What its configuration needs for that, 'larder registry settings' prints.",
                };
          });
          await examine('Backups', async () => {
            const last = (await records.audit.newest(Number.MAX_SAFE_INTEGER, 10_000)).find(
              ({ action }) => action === 'backup',
            );
            const old = last === undefined || now().getTime() - Date.parse(last.at) > days(7);
            return old
              ? {
                  good: false,
                  says: last ? `the last backup was made at ${last.at}` : 'no backup was ever made',
                  mend: "Run 'larder backup FILE', and keep copies of site.key and master.key elsewhere.",
                }
              : { good: true, says: `the last backup was made at ${last.at}` };
          });
          const problems = await withBlobs(store, ({ database, nativeBinding }) =>
            Promise.resolve(checkDatabase(database, { nativeBinding })),
          );
          return problems.length === 0
            ? { good: true, says: 'the database is whole, every row as it was written' }
            : {
                good: false,
                says: `the database is damaged: ${problems[0]!}`,
                mend: "Stop the server and restore the last backup; 'larder verify' lists everything.",
              };
        } finally {
          await store.close();
        }
      });
    }

    const { red, bold } = style(world.stdout, world.env);
    const wrong = findings.filter(({ good }) => !good).length;
    return {
      text:
        findings
          .map(
            ({ what, good, says, mend }) =>
              `${good ? 'ok   ' : red('WRONG')} ${bold(what)}: ${says}${mend === undefined ? '' : `\n      ${mend}`}`,
          )
          .join('\n') +
        (wrong === 0 ? '\n\nAll is well.' : `\n\n${String(wrong)} of ${String(findings.length)} need attention.`),
      json: { good: wrong === 0, findings },
      exitCode: wrong === 0 ? 0 : 1,
    };
  },
});

function certificate(data: string, config: Config): Omit<Finding, 'what'> {
  if (!speaksTls(config)) {
    const [, host = ''] = /^(.+):\d+$/.exec(config.http.listen) ?? [];
    return /^(?:127\.|localhost$|\[::1\]$)/.test(host)
      ? { good: true, says: 'plain http, on this machine alone' }
      : {
          good: false,
          says: `plain http on ${config.http.listen}: tokens can be read on the network`,
          mend: 'Set http.base_url to an https address, or listen on 127.0.0.1 behind a proxy that speaks TLS.',
        };
  }
  const found = readCertificates(data, tlsSettings(config));
  if (found === undefined) return { good: true, says: 'the certificates are made at the next start' };
  const left = Math.floor((found.ends.getTime() - Date.now()) / days(1));
  const says = `for ${found.hosts.join(', ')}, ${String(left)} days left; fingerprint ${found.fingerprint}`;
  if (found.own)
    return left >= 14
      ? { good: true, says }
      : { good: false, says, mend: 'Start the server: it renews its certificate by itself.' };
  const files = siteFiles(tlsSettings(config));
  const problems = files ? siteProblems(files, tlsSettings(config).hosts, () => new Date()) : [];
  const mend = "Put a new certificate into the site's files and send the server SIGHUP.";
  if (problems.length > 0) return { good: false, says: `the site's certificate: ${problems.join('; ')}`, mend };
  return left >= 14 ? { good: true, says } : { good: false, says, mend };
}

/** Whether a crash of the serving process, or of this one, could leave keys in a file. */
function coreDumps(serving: number | undefined): Omit<Finding, 'what'> {
  switch (leavesMemory(serving ?? 'self')) {
    case false:
      return { good: true, says: 'a crash leaves nothing of the memory in a file' };
    case true:
      return {
        good: false,
        says: 'a crash would leave the memory of the server in a file, and keys with it',
        mend: "Start it with core dumps off: LimitCORE=0 in its unit, or 'ulimit -c 0' before it.",
      };
    default:
      return { good: true, says: 'this system does not say whether a crash leaves memory in a file' };
  }
}

/** Whether others than the owner may read or write it; certificates are for everybody. */
function isOpen(path: string): boolean {
  const found = lstatSync(path);
  return !found.isSymbolicLink() && (found.mode & 0o077) !== 0;
}
