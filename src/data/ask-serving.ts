// Asks the process that serves a data directory for its current state. The state file in the directory may be ten seconds old.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import { servingSecretHeader } from '#http/services.ts';
import { seconds } from '#domain/clock.ts';
import { describeFault, textOf } from '#platform/faults.ts';
import { servingState, type ServingState } from './serving-state.ts';

/** The path for the state. The caller must send the secret from the state file, which only the owner of the directory can read. */
const servingPath = '/_status/serving';

/** Timeout in milliseconds for a response: the process itself waits up to two seconds for a worker that hangs. */
const maxAnswerMs = seconds(5);

/** Returns the current state of the serving process; undefined if no process serves the directory. */
export async function askServing(data: string): Promise<ServingState | undefined> {
  const written = servingState(data);
  if (written?.secret === undefined) return written;
  try {
    return await fetchServingState(written.url, written.secret);
  } catch (error) {
    // The process may have ended in between.
    if (servingState(data) === undefined) return undefined;
    const because = error instanceof Error ? error.message : String(error);
    const fault = describeFault('not-answering', { pid: written.pid, because });
    return {
      ...written,
      problems: [...written.problems, textOf(fault)],
      faults: [...(written.faults ?? []), fault],
    };
  }
}

async function fetchServingState(url: string, secret: string): Promise<ServingState> {
  const body = await getFromServing(url, servingPath, { [servingSecretHeader]: secret });
  return (JSON.parse(body) as { state: ServingState }).state;
}

/**
 * Returns the body of a GET request to the process that serves at `url` on this host. Throws if it does not respond in time with status
 * 200.
 */
export async function getFromServing(url: string, path: string, headers: Record<string, string> = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // The address is on this host, and the secret is useful only there, so the certificate is not verified.
  const options = { headers, signal: AbortSignal.timeout(maxAnswerMs), rejectUnauthorized: false, agent: false };
  // Both modules take megabytes, and a command for a store that is not served needs neither.
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'));
  request(new URL(path, url), options, resolve).on('error', reject).end();
  const response = await promise;
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`it answers with status ${String(response.statusCode)}`);
  return body;
}
