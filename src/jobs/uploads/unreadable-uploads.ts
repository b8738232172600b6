// Tracks uploads with unreadable files: they keep waiting for review, are reported as a fault and are tried again.
import { listCauses, isFailingDisk, isShortage } from '#platform/system-errors.ts';
import type { Health } from '#platform/health.ts';

export interface UnreadableUploads {
  /** Returns whether a review failed because the system could not read the file. This says nothing about the content. */
  is(error: unknown): boolean;
  /** Skips an upload until the next retry. */
  setAside(id: string): void;
  /** Marks an upload as readable again. */
  settled(id: string): void;
  /** Returns the ids of the uploads that are currently skipped. */
  waiting(): string[];
  stop(): void;
}

interface UnreadableUploadsOptions {
  health: Pick<Health, 'watch'>;
  /** Milliseconds until the next retry. */
  retry: number;
  /** Called after `retry`, when no upload is skipped any longer; reviews the uploads again. */
  again: () => void;
}

export function unreadableUploads(of: string, { health, retry, again }: UnreadableUploadsOptions): UnreadableUploads {
  const passedOver = new Set<string>();
  /** Uploads reported as unreadable until they are settled, also during a retry. */
  const reported = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  health.watch('unreadable-uploads', () => (reported.size === 0 ? undefined : { uploads: reported.size }), of);

  return {
    is: (error) =>
      listCauses(error).some((cause) => {
        const { code = '' } = cause as NodeJS.ErrnoException;
        return isFailingDisk(code) || isShortage(code);
      }),
    setAside(id) {
      passedOver.add(id);
      reported.add(id);
      timer ??= setTimeout(() => {
        timer = undefined;
        passedOver.clear();
        again();
      }, retry).unref();
    },
    settled(id) {
      reported.delete(id);
    },
    waiting: () => [...passedOver],
    stop() {
      clearTimeout(timer);
    },
  };
}
