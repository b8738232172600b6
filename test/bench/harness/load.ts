// A load of its own: sends prepared requests over several connections, over and over, and measures each answer.
// It runs as a process of its own, so that it does not slow the server that it measures.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

export interface Load {
  port: number;
  tls?: boolean;
  /** The whole request, headers and body. */
  request: string;
  /** Texts that take turns in the request, so that no two are the same. */
  turns?: Turns;
  connections: number;
  /** The process that is to answer, if several share the port; connections to others are closed unused. */
  answers?: number;
  /**
   * Whether the client sleeps until a response arrives. For responses of milliseconds that is right, and leaves a
   * processor free.
   */
  sleeps?: boolean;
}

/** Places in a request, from its first byte, and the texts of one length that come there: each time another choice of them. */
export interface Turns {
  places: number[];
  texts: string[];
  /** After so many different requests the first one comes again. */
  different: number;
  /** Which of them is the first; 0 unless said, and another one where clients must not ask the same. */
  from?: number;
}

export interface Measured {
  requests: number;
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  failures: number;
}

/**
 * The input of the client: the requests to send once, then the requests to repeat, and for how many milliseconds or
 * times.
 */
export type Order = { open: Load } | { slice: Bounds };

/** A slice ends with whichever comes first. */
export interface Bounds {
  milliseconds?: number;
  requests?: number;
}

if (process.argv[1] === import.meta.filename) {
  let client: Promise<Client> | undefined;
  process.on('message', (order: Order) => {
    if ('open' in order) client = open(order.open);
    const answered = 'open' in order ? client : client?.then((opened) => opened.slice(order.slice));
    void answered?.then((measured) => process.send?.('open' in order ? 'open' : measured));
  });
}

interface Client {
  slice(bounds: Bounds): Promise<Measured>;
}

async function open({
  port,
  tls = false,
  request,
  turns,
  connections,
  answers,
  sleeps = false,
}: Load): Promise<Client> {
  const next = writer(request, turns);
  const sockets = await openAll(port, tls, connections, answers);
  return {
    async slice({ milliseconds = Infinity, requests = Infinity }) {
      const begin = performance.now();
      const state: Slice = { end: begin + milliseconds, left: requests, times: [], failures: 0 };
      // Otherwise the client never sleeps: else each answer of a slower server would also pay for waking it, and that of a faster one not.
      let awake = !sleeps;
      const stayAwake = (): void => {
        if (awake) setImmediate(stayAwake);
      };
      stayAwake();
      await Promise.all(sockets.map((socket) => converse(socket, next, state)));
      awake = false;
      const duration = performance.now() - begin;
      const times = Float64Array.from(state.times).sort();
      const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN;
      return {
        requests: times.length,
        requestsPerSecond: (times.length / duration) * 1000,
        p50: at(0.5),
        p99: at(0.99),
        failures: state.failures,
      };
    },
  };
}

async function openAll(port: number, tls: boolean, connections: number, answers?: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < connections) {
    // A few at a time: a server's queue of connections that it has not seen yet is short.
    const few = Math.min(64, connections - sockets.length);
    const opened = await Promise.all(Array.from({ length: few }, () => connected(port, tls)));
    sockets.push(...(answers === undefined ? opened : await takenBy(answers, port, opened)));
  }
  return sockets;
}

/** Those of the connections that a process has; the others are closed. */
async function takenBy(pid: number, port: number, sockets: Socket[]): Promise<Socket[]> {
  // Until a worker has it, a connection is the supervisor's.
  await sleep(100);
  const open = openFiles(pid);
  const ofServer = new Map<number, string>();
  for (const line of readFileSync('/proc/net/tcp', 'latin1').trim().split('\n').slice(1)) {
    const [, local = '', remote = '', , , , , , , inode = ''] = line.trim().split(/ +/);
    const [at, from] = [local, remote].map((address) => parseInt(address.split(':')[1] ?? '', 16));
    if (at === port) ofServer.set(from!, `socket:[${inode}]`);
  }
  return sockets.filter((socket) => open.has(ofServer.get(socket.localPort!) ?? '') || void socket.destroy());
}

/** The files behind the descriptors of a process; undefined for a descriptor that was closed in between. */
function openFiles(pid: number): Set<string> {
  const descriptors = `/proc/${String(pid)}/fd`;
  const files = readdirSync(descriptors).map((descriptor) => {
    try {
      return readlinkSync(join(descriptors, descriptor));
    } catch {
      return '';
    }
  });
  return new Set(files);
}

interface Slice {
  end: number;
  left: number;
  times: number[];
  failures: number;
}

const connected = (port: number, tls: boolean): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = tls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => resolve(socket))
      : connect(port, '127.0.0.1', () => resolve(socket));
    socket.setNoDelay(true);
    socket.once('error', reject);
  });

/** Gives the bytes of the next request; they are the same buffer, so they are written before the next one is asked for. */
function writer(request: string, turns: Turns | undefined): () => Buffer {
  const bytes = Buffer.from(request);
  if (turns === undefined) return () => bytes;
  const { places, texts, different, from = 0 } = turns;
  let count = from;
  return () => {
    let choice = count++ % different;
    const copy = Buffer.from(bytes);
    // The number of the request, written in digits to the base of how many texts there are.
    for (const place of places) {
      copy.write(texts[choice % texts.length] ?? '', place, 'latin1');
      choice = Math.floor(choice / texts.length);
    }
    return copy;
  };
}

/** One connection for the length of a slice: the next request when the answer is whole. */
function converse(socket: Socket, next: () => Buffer, state: Slice): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sent = 0;
  let expected = -1;
  let received = 0;
  const send = (): void => {
    sent = performance.now();
    state.left--;
    expected = -1;
    received = 0;
    socket.write(next());
  };
  const closed = (): void => {
    reject(new Error('cannot measure: the server has closed a connection'));
  };
  const data = (chunk: Buffer): void => {
    if (expected < 0) {
      expected = lengthOf(chunk);
      if (chunk.toString('latin1', 9, 12) !== '200') state.failures++;
    }
    received += chunk.length;
    if (received < expected) return;
    const now = performance.now();
    state.times.push(now - sent);
    if (now < state.end && state.left > 0) return send();
    socket.off('data', data).off('close', closed);
    resolve();
  };
  socket.on('data', data).once('close', closed);
  if (socket.destroyed) closed();
  else send();
  return promise;
}

/** The length of the whole answer that begins here. */
function lengthOf(chunk: Buffer): number {
  const head = chunk.indexOf('\r\n\r\n');
  const at = chunk.indexOf('ontent-', 0, 'latin1');
  for (let from = at; from >= 0 && from < head; from = chunk.indexOf('ontent-', from + 7, 'latin1')) {
    if (chunk.toString('latin1', from + 7, from + 14).toLowerCase() === 'length:') {
      return head + 4 + Number.parseInt(chunk.toString('latin1', from + 14, from + 26), 10);
    }
  }
  return head + 4;
}
