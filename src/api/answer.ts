// The life of a call, whole: authenticate, admit, validate, act, answer.
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Principal } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { readBody } from './body.ts';
import { readJson } from './json.ts';
import { refuseNarrowed } from './narrowing.ts';
import { Answer, type Operation } from './operation.ts';
import { check } from './schema.ts';
import { json, type Sent } from './sent.ts';
import type { ServerServices } from './services.ts';
import type { Wire } from './wire.ts';

/** A request that has found its operation. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  params: Record<string, string>;
  /** The query's members; a repeated one has been refused. */
  query: Record<string, string>;
  address: string;
  requestId: string;
  /** Filled in on the way, for the log. */
  principal?: Principal;
}

/** Answers one call of an operation; throws a `Refusal`, or whatever went wrong on our side. */
export async function answer(
  op: Operation,
  exchange: Exchange,
  services: ServerServices,
  checkAnswers: boolean,
): Promise<Sent> {
  const { request, params, query } = exchange;
  let payload: Promise<unknown> | undefined;
  const body = (): Promise<unknown> => (payload ??= readPayload(op, request));

  let inPayload = false;
  const tokens = async (): Promise<string[]> => {
    const presented = await credentials(op, exchange, body);
    inPayload = presented.inPayload;
    return presented.tokens;
  };
  const evidence = await op.access.admit({
    params,
    query,
    request,
    records: services.records,
    registry: services.registry,
    config: services.config,
    async authenticate() {
      exchange.principal = await services.authority.authenticate(await tokens());
      services.authority.used(exchange.principal.sessionId);
      return exchange.principal;
    },
    login: async () => services.authority.login(await tokens()),
    presentsToken: async () => (await tokens()).length > 0,
    inPayload: () => inPayload,
  });
  if (exchange.principal !== undefined) refuseNarrowed(op, exchange.principal, evidence);
  if (op.query !== undefined) check(op.query, query);
  const content = op.body === undefined ? undefined : await body();
  if (op.body !== undefined && !(op.bodyOptional === true && content === undefined)) check(op.body, content);

  const result = await op.handle({ ...services, ...evidence, ...exchange, body: content } as never);
  if (result instanceof Answer) {
    return { status: result.status ?? op.status ?? 200, headers: result.headers, body: result.body };
  }
  if (checkAnswers && op.response !== undefined) checkAnswer(op, result);
  if (result === undefined) return { status: op.status ?? 204, headers: {}, body: undefined };
  return { status: op.status ?? 200, headers: json, body: JSON.stringify(result) };
}

async function readPayload(op: Operation, request: IncomingMessage): Promise<unknown> {
  const form = op.consumes === 'application/x-www-form-urlencoded';
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding !== 'identity')
    throw new Refusal('unsupported-media-type', 'This operation takes its body without a content encoding.');
  const text = await readBody(request, op.bodyLimit ?? 1024 * 1024);
  if (text === '') {
    if (op.bodyOptional === true || op.body === undefined) return undefined;
    throw new Refusal(
      'api-error',
      `The request has no body; this operation takes a ${form ? 'form' : 'JSON document'}.`,
    );
  }
  const taken = form ? 'application/x-www-form-urlencoded' : 'application/json';
  if (type !== undefined && type !== taken && type.split(';', 1)[0]?.trim().toLowerCase() !== taken) {
    throw new Refusal('unsupported-media-type', `This operation takes ${taken}, not '${type.slice(0, 100)}'.`);
  }
  return form ? members(text, 'The form') : readJson(text);
}

/**
 * The members of a query or a form; one that is given twice is refused, because two readers would take different ones.
 * The values of one that may be repeated are put together, with spaces between them.
 */
export function members(text: string, what: string, repeated: string[] = []): Record<string, string> {
  const found: Record<string, string> = Object.create(null) as Record<string, string>;
  if (text === '') return found;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in found && repeated.includes(name)) {
      found[name] = `${found[name] ?? ''} ${value}`;
      continue;
    }
    if (name in found) throw new Refusal('api-error', `${what} names '${name.slice(0, 100)}' twice.`);
    found[name] = value;
  }
  return found;
}

/**
 * The tokens a request presents: in its headers, or, for charm operations and exchanges alone, in the payload's
 * member `macaroon`, which is taken out before validation.
 */
async function credentials(
  op: Operation,
  { request, params }: Exchange,
  body: () => Promise<unknown>,
): Promise<Presented> {
  const { authorization, macaroons } = request.headers;
  const mayBeInPayload = op.access.inPayload === true || params['namespace'] === 'charm';
  if (authorization !== undefined || macaroons !== undefined || !mayBeInPayload) {
    return { tokens: fromHeaders(authorization, macaroons), inPayload: false };
  }
  if (
    request.headers['content-length'] === '0' ||
    !('content-length' in request.headers || 'transfer-encoding' in request.headers)
  ) {
    return { tokens: [], inPayload: false };
  }
  const content = await body();
  if (typeof content !== 'object' || content === null || !('macaroon' in content))
    return { tokens: [], inPayload: false };
  const { macaroon } = content;
  delete content.macaroon;
  // A text is what a header would have; a macaroon or a list of them may also stand there as JSON.
  return { tokens: [typeof macaroon === 'string' ? macaroon : JSON.stringify(macaroon)], inPayload: true };
}

interface Presented {
  tokens: string[];
  inPayload: boolean;
}

/**
 * `Macaroon X`, `Bearer X`, `Macaroon root=A, discharge=B` (quoted or not), in any case,
 * and the `Macaroons:` header with a list.
 */
function fromHeaders(authorization: string | undefined, macaroons: string | string[] | undefined): string[] {
  if (authorization !== undefined) {
    const [, value] = /^(?:macaroon|bearer) +(.+)$/i.exec(authorization.trim()) ?? [];
    if (value === undefined) return ['']; // a scheme that is not ours is a token that does not hold
    const pair = /^root="?([^",\s]+)"?\s*,\s*discharge="?([^",\s]+)"?$/i.exec(value);
    return pair === null ? [value.trim()] : [pair[1] ?? '', pair[2] ?? ''];
  }
  if (macaroons === undefined) return [];
  return [Array.isArray(macaroons) ? '' : macaroons];
}

/** In development and tests an answer that breaks its own shape is our fault, and loud. */
function checkAnswer(op: Operation, result: unknown): void {
  try {
    check(op.response as keyof Wire, result);
  } catch (error) {
    throw new Error(`cannot answer ${op.name}: ${(error as Error).message}`, { cause: error });
  }
}
