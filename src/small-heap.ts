// A command that goes through much and keeps little: garbage is collected often, in little memory, rather than seldom in much.
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

/**
 * From here on the young generation of the heap stays as it is. V8 lets it grow to 128 MiB on a host with much memory, for programs
 * that serve for long; of a transfer of 10,000 packages that is half of what it takes to receive it, and no time is lost
 * (`npm run bench -- transfers`).
 */
export function keepHeapSmall(): void {
  // A thread has bounds of its own, and V8 knows this for the whole process alone.
  if (isMainThread) setFlagsFromString('--semi-space-growth-factor=1');
}
