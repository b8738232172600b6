// Sends requests, and records each with its answer.
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Answer, ExpectedEntry, History } from './history.ts';

interface Reply {
  status: number;
  requestId: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
  body: any;
}

interface SentRequest {
  method: string;
  path: string;
  token?: string | undefined;
  body?: unknown;
}

/** The requests of a client, and how it understands their answers. */
export interface RecordedRequest extends SentRequest {
  change?: ExpectedEntry;
  /** The meaning of an answer; undefined for one that no correct store gives. */
  understand(reply: Reply): Pick<Answer, 'outcome' | 'entry' | 'claims'> | undefined;
}

/** The pause of a client after a broken connection. */
const pauseMs = 20;

/** A client gives up after so long, and does not learn what came of its request. */
const clientTimeoutMs = 10_000;

export class RecordingClient {
  readonly #history: History;
  readonly #urls: () => string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(history: History, urls: () => string) {
    this.#history = history;
    this.#urls = urls;
  }

  /** Sends a request; its reply, or undefined if there is none or the store cannot say what came of it. */
  async send({ change, understand, ...sent }: RecordedRequest): Promise<Reply | undefined> {
    const answered = this.#history.send(`${sent.method} ${sent.path}`, change);
    let reply: Reply;
    try {
      reply = await this.#exchange(sent);
    } catch {
      answered({ outcome: 'unknown' });
      await sleep(pauseMs);
      return undefined;
    }
    const { status, requestId, body } = reply;
    const answer = `${status} ${JSON.stringify(body).slice(0, 200)}`;
    // 503: an engine is away. 500 is a violation, and so is every other answer that no rule explains.
    const meaning = status === 503 || status === 507 ? { outcome: 'unknown' as const } : understand(reply);
    if (meaning === undefined) throw new Error(`unexpected answer to ${sent.method} ${sent.path}: ${answer}`);
    answered({ ...meaning, requestId, answer });
    return meaning.outcome === 'unknown' ? undefined : reply;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #exchange({ method, path, token, body }: SentRequest): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const isForm = body instanceof Buffer;
    const type = isForm ? 'multipart/form-data; boundary=f' : 'application/json';
    const content = body === undefined || isForm ? body : JSON.stringify(body);
    const headers = {
      ...(token !== undefined && { authorization: `Macaroon ${token}` }),
      ...(content !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(content) }),
    };
    const signal = AbortSignal.timeout(clientTimeoutMs);
    const sending = request(this.#urls() + path, { method, headers, agent: this.#agent, signal });
    sending.once('response', resolve).on('error', reject);
    sending.end(content);
    const reply = await promise;
    const text = (await reply.setEncoding('utf8').toArray()).join('');
    if (!reply.complete) throw new Error('the answer was cut');
    const isJson = reply.headers['content-type'] === 'application/json';
    return {
      status: reply.statusCode ?? 0,
      requestId: String(reply.headers['x-request-id']),
      body: isJson ? (JSON.parse(text) as unknown) : text,
    };
  }
}
