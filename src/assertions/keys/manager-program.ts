// Runs a key manager: a program of the host, without a shell, with bounds on its time and output.
import { spawn, type ChildProcess } from 'node:child_process';
import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';

import { describeSystemError } from '#platform/system-errors.ts';

/** A key manager did not do its work. The message is a clause without a full stop. */
export class KeyManagerError extends Error {
  override name = 'KeyManagerError';
  /** Whether the device refused the PIN. Another attempt with the same PIN could lock the device. */
  readonly isPinRefused: boolean;

  constructor(message: string, { isPinRefused = false, cause }: { isPinRefused?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isPinRefused = isPinRefused;
  }
}

export interface ManagerProgram {
  /** An absolute path. */
  readonly path: string;
  /** All environment variables of the program. */
  readonly env: Readonly<Record<string, string>>;
}

interface ManagerCall {
  readonly args: readonly string[];
  readonly input: string | Uint8Array;
  readonly timeoutMs: number;
  /** The end of this process. */
  readonly signal: AbortSignal;
}

const maxOutputBytes = 64 * 1024;
const maxQuotedLength = 200;
const storeStops = 'the store is stopping';

/** Runs the program and returns its output; throws a KeyManagerError if it fails, takes too long or prints too much. */
export async function runManager(program: ManagerProgram, call: ManagerCall): Promise<Buffer> {
  await refuseUnsafe(program.path);
  if (call.signal.aborted) throw new KeyManagerError(storeStops);
  return new Promise((resolve, reject) => {
    const child = startProgram(program, call.args);
    // First, because without file descriptors for its pipes the program has no streams, and only this event follows.
    child.on('error', (cause) => {
      reject(new KeyManagerError(`${program.path} cannot be run: ${describeSystemError(cause) ?? cause.message}`));
    });
    const stop = (because: string): void => {
      reject(new KeyManagerError(because));
      endGroup(child);
    };
    const output = boundedOutput(child.stdout, stop);
    const errors = boundedOutput(child.stderr, stop);
    const timer = setTimeout(() => {
      stop(`${program.path} did not answer within ${String(Math.ceil(call.timeoutMs / 1000))} s`);
    }, call.timeoutMs);
    const stopWithStore = (): void => {
      stop(storeStops);
    };
    call.signal.addEventListener('abort', stopWithStore);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      call.signal.removeEventListener('abort', stopWithStore);
      if (code === 0) resolve(output());
      else reject(describeFailure(program, code ?? signal, errors().toString('utf8')));
    });
    // A program may end without reading its input.
    child.stdin?.on('error', () => undefined).end(call.input);
  });
}

/** In a process group of its own, so that the programs that it starts end with it. */
const startProgram = ({ path, env }: ManagerProgram, args: readonly string[]): ChildProcess =>
  spawn(path, args, { env, cwd: '/', detached: true, stdio: ['pipe', 'pipe', 'pipe'] });

function endGroup(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // All processes of the group have ended already.
  }
}

/** Collects an output, and stops the program at the limit. */
function boundedOutput(stream: Readable | null | undefined, stop: (because: string) => void): () => Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  stream?.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxOutputBytes) stop(`it printed more than ${String(maxOutputBytes / 1024)} KiB`);
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks);
}

function describeFailure({ path, env }: ManagerProgram, end: number | string | null, stderr: string): KeyManagerError {
  const isPinRefused = saysPinRefused(stderr);
  const line = quotableLine(stderr, env);
  const message = isPinRefused ? 'the device refused the PIN' : `${path} ended with ${describeEnd(end)}`;
  return new KeyManagerError(line === '' ? message : `${message} (${line})`, { isPinRefused });
}

const describeEnd = (end: number | string | null): string =>
  typeof end === 'number' ? `exit code ${String(end)}` : `the signal ${String(end)}`;

/** PKCS #11 has CKR_PIN_INCORRECT, CKR_PIN_LOCKED and others; OpenSC and gpg write "PIN incorrect", "Bad PIN" and the like. */
const saysPinRefused = (text: string): boolean =>
  /CKR_PIN_|\bPIN (?:is |was )?(?:incorrect|wrong|invalid|locked|blocked|expired|refused)|\b(?:incorrect|wrong|invalid|bad) PIN\b/i.test(
    text,
  );

/** A line of an error, as a message can quote it: printable, short, and without the values of variables, which can be secret. */
function quotableLine(stderr: string, env: ManagerProgram['env']): string {
  const lines = stderr.split('\n', 40).filter((text) => text.trim() !== '');
  const line = lines.find((text) => /error|cannot|fail/i.test(text)) ?? lines[0] ?? '';
  const secrets = Object.values(env).filter((value) => value.length >= 4 && !value.startsWith('/'));
  const printable = line.replaceAll(/\p{C}/gu, ' ').trim();
  const quotable = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), printable);
  return quotable.length > maxQuotedLength ? `${quotable.slice(0, maxQuotedLength)}…` : quotable;
}

/** Refuses a program that another user could replace. */
async function refuseUnsafe(path: string): Promise<void> {
  let target: string;
  let places: [string, Stats][];
  try {
    // A symbolic link is as safe as its own folder and its target.
    target = await realpath(path);
    const all = new Set([target, dirname(target), dirname(path)]);
    places = await Promise.all([...all].map(async (place): Promise<[string, Stats]> => [place, await stat(place)]));
  } catch (cause) {
    throw new KeyManagerError(`${path} cannot be run: ${describeSystemError(cause) ?? 'it cannot be read'}`, { cause });
  }
  for (const [place, { uid, mode }] of places) {
    if (uid !== 0 && uid !== process.getuid?.())
      throw new KeyManagerError(`${place} belongs to another user, who could replace the program`);
    const isSticky = place !== target && (mode & 0o1000) !== 0;
    if ((mode & 0o022) !== 0 && !isSticky)
      throw new KeyManagerError(`other users can write ${place}; correct that with 'chmod go-w ${place}'`);
  }
  const file = places.find(([place]) => place === target)?.[1];
  if (file?.isFile() !== true || (file.mode & 0o111) === 0) throw new KeyManagerError(`${path} is not a program`);
}
