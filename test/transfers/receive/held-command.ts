// A command in a thread, which begins when a test lets it: the command and the thread are the real ones.
import { workerData } from 'node:worker_threads';

const { gate } = workerData as { gate: Int32Array<SharedArrayBuffer> };
Atomics.wait(gate, 0, 0);
await import('#src/main.ts');
