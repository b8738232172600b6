// The thread of the watchdog: ends the process by SIGKILL, because a blocked event loop handles no other signal.
import { write } from 'node:fs';
import { workerData } from 'node:worker_threads';

import { seconds } from '#domain/clock.ts';
import type { WatchedLoop } from './watchdog.ts';

const { beats, asText, worker, beatMs, maxMissedBeats } = workerData as WatchedLoop;
let last = Atomics.load(beats, 0);
let missedBeats = 0;

const watching = setInterval(() => {
  const count = Atomics.load(beats, 0);
  missedBeats = count === last ? missedBeats + 1 : 0;
  last = count;
  if (missedBeats < maxMissedBeats) return;
  clearInterval(watching);
  // The reader of the log may be the reason, so the line gets one second.
  setTimeout(end, seconds(1));
  void writeReason();
}, beatMs);

async function writeReason(): Promise<void> {
  // Loaded only now: a thread that only counts stays small.
  const { createLog } = await import('./log.ts');
  const destination = { write: (line: string) => write(2, line, end) };
  const blockedSeconds = Math.round((maxMissedBeats * beatMs) / 1000);
  createLog('fatal', { asText: () => asText, worker, destination }).fatal(
    { blockedSeconds },
    'the event loop was blocked for too long, so this process ends; start it again, as systemd does',
  );
}

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
