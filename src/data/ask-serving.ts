// Asks the process that serves a data directory how it is at this moment. Its file in the directory may be ten seconds old.
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';

import { servingSecretHeader } from '#api/services.ts';
import { seconds } from '#domain/clock.ts';
import { describeFault, textOf } from '#src/faults.ts';
import { servingState, type ServingState } from './serving-state.ts';

/** Where it answers a caller who shows the secret in its file: only the owner of the directory can read that. */
const servingPath = '/_status/serving';

/** Milliseconds that an answer may take: a worker that hangs is waited for two seconds. */
const maxAnswerMs = seconds(5);

/** What the serving process says of itself now; undefined if no process serves the directory. */
export async function askServing(data: string): Promise<ServingState | undefined> {
  const written = servingState(data);
  if (written?.secret === undefined) return written;
  try {
    return await answerOf(written.url, written.secret);
  } catch (error) {
    // It may have ended in between.
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

async function answerOf(url: string, secret: string): Promise<ServingState> {
  const body = await getFromServing(url, servingPath, { [servingSecretHeader]: secret });
  return (JSON.parse(body) as { state: ServingState }).state;
}

/** The body that the process which serves at `url`, on this host, answers at a path; throws if it does not answer in time with 200. */
export async function getFromServing(url: string, path: string, headers: Record<string, string> = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // The address is one of this host, and a secret is of use there alone.
  const options = { headers, signal: AbortSignal.timeout(maxAnswerMs), rejectUnauthorized: false, agent: false };
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  send(new URL(path, url), options, resolve).on('error', reject).end();
  const response = await promise;
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`it answers with status ${String(response.statusCode)}`);
  return body;
}
