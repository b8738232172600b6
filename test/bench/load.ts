// A load of its own: sends one prepared request over several connections, over and over, and measures each answer.
// It runs as a process of its own, so that it does not slow the server that it measures.
import { connect } from 'node:net';

export interface Load {
  port: number;
  /** The whole request, headers and body. */
  request: string;
  connections: number;
  /** Milliseconds of warming up, and of measuring. */
  warmup: number;
  duration: number;
  /** Whether the client sleeps until an answer comes; where that takes milliseconds it is right, and leaves a processor free. */
  sleeps?: boolean;
}

export interface Measured {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  failures: number;
}

if (process.argv[1] === import.meta.filename) {
  process.once('message', (load: Load) => {
    void run(load).then((measured) => {
      process.send?.(measured, () => process.exit(0));
    });
  });
}

async function run({ port, request, connections, warmup, duration, sleeps = false }: Load): Promise<Measured> {
  const bytes = Buffer.from(request);
  const times: number[] = [];
  let failures = 0;
  const begin = performance.now() + warmup;
  const end = begin + duration;

  const connection = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true);
      let sent = 0;
      let expected = -1;
      let received = 0;
      const send = (): void => {
        sent = performance.now();
        expected = -1;
        received = 0;
        socket.write(bytes);
      };
      socket.once('connect', send);
      socket.once('error', reject);
      socket.on('data', (chunk) => {
        if (expected < 0) {
          const head = chunk.indexOf('\r\n\r\n');
          const text = chunk.toString('latin1', 0, head).toLowerCase();
          expected = head + 4 + Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0);
          if (!text.startsWith('http/1.1 200')) failures++;
        }
        received += chunk.length;
        if (received < expected) return;
        const now = performance.now();
        if (sent >= begin) times.push(now - sent);
        if (now < end) send();
        else {
          socket.destroy();
          resolve();
        }
      });
    });
  // Otherwise the client never sleeps: else each answer of a slower server would also pay for waking it, and that of a faster one not.
  let awake = !sleeps;
  const stayAwake = (): void => {
    if (awake) setImmediate(stayAwake);
  };
  stayAwake();
  await Promise.all(Array.from({ length: connections }, connection));
  awake = false;
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN;
  return { requestsPerSecond: (times.length / duration) * 1000, p50: at(0.5), p99: at(0.99), failures };
}
