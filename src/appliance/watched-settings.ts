// What is wrong with a configuration that is well-formed: what belongs together and is not all there, what the disk cannot keep.
import { missingForExchange, type Config } from '#src/config.ts';
import type { Health } from '#src/health.ts';

/** Looks at the configuration as it stands whenever somebody asks; `diskSize` is that of the whole disk, in bytes. */
export function watchSettings(health: Pick<Health, 'watch'>, config: () => Config, diskSize: () => number): void {
  health.watch('administrator', () => {
    const missing = missingForExchange(config()) ?? [];
    if (missing.length === 0) return undefined;
    return (
      `store.offline_mode is on and ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing, so the store ` +
      "administrator's credential is not exchanged; 'larder admin-macaroon' makes one and sets both."
    );
  });
  health.watch('reserve', () => tooSmall(diskSize(), config().uploads.reserve));
}

/** That a disk is smaller than what is to be kept free on it; the numbers as people write them in the configuration. */
export function tooSmall(diskSize: number, reserve: number): string | undefined {
  if (diskSize > reserve) return undefined;
  return (
    `The whole disk has ${mebibytes(diskSize)}, and uploads.reserve keeps ${mebibytes(reserve)} of it free, so nothing can be ` +
    'uploaded. Use a larger disk, or set uploads.reserve in larder.toml lower and restart the server.'
  );
}

const mebibytes = (bytes: number): string => `${String(Math.floor(bytes / 1024 / 1024))} MiB`;
