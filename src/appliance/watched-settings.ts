// What is wrong with a configuration that is well-formed: what belongs together and is not all there, what the disk cannot keep.
import { tooSmall } from '#data/disk-size.ts';
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
