// Uploads whose files could not be read for their review: they go on waiting, somebody is told, and they are tried again.
import { causes, isFailingDisk, isShortage } from '#src/system-errors.ts';
import type { Health } from '#src/health.ts';

export interface UnreadableUploads {
  /** Whether a review failed because the system did not give the file, which says nothing of what is in it. */
  is(error: unknown): boolean;
  /** Passes over an upload until it is time to try again. */
  setAside(id: string): void;
  /** Says that an upload could be read after all. */
  settled(id: string): void;
  /** The ids of those that are passed over now. */
  waiting(): string[];
  stop(): void;
}

interface Options {
  health: Pick<Health, 'watch'>;
  /** Milliseconds until they are tried again. */
  retry: number;
  /** Told when that is. */
  again: () => void;
}

export function unreadableUploads(of: string, { health, retry, again }: Options): UnreadableUploads {
  const passedOver = new Set<string>();
  /** Until they are settled; they are so also while they are tried again. */
  const told = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  health.watch('unreadable-uploads', () => (told.size === 0 ? undefined : { uploads: told.size }), of);

  return {
    is: (error) =>
      causes(error).some((cause) => {
        const { code = '' } = cause as NodeJS.ErrnoException;
        return isFailingDisk(code) || isShortage(code);
      }),
    setAside(id) {
      passedOver.add(id);
      told.add(id);
      timer ??= setTimeout(() => {
        timer = undefined;
        passedOver.clear();
        again();
      }, retry).unref();
    },
    settled(id) {
      told.delete(id);
    },
    waiting: () => [...passedOver],
    stop() {
      clearTimeout(timer);
    },
  };
}
