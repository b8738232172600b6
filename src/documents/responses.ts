// The possible responses of an operation by status, derived from its record.
import type { RefusalCode } from '#domain/refusal.ts';
import { anyone } from '#access/access-rules.ts';
import type { Operation } from '#http/operation.ts';
import { statusIn, type ErrorFamily } from '#http/error-responses.ts';
import { examples } from './examples.ts';
import { headersWith } from './response-headers.ts';
import { reference } from './schemas.ts';

type ResponsesJson = Record<string, unknown>;

/** The responses of an operation in the form of OpenAPI. */
export function responsesOf(op: Operation): ResponsesJson {
  const codes = Map.groupBy(refusalsOf(op), (code) => String(statusIn(op.errors ?? 'publisher', code)));
  const challenges = new Map(Object.entries(op.asks ?? {}));
  const refusing = [...new Set([...codes.keys(), ...challenges.keys()])].sort();
  return {
    ...successes(op),
    ...Object.fromEntries(
      refusing.map((status) => {
        const words = codes.get(status);
        const sentences = [challenges.get(status), words && `Refused: ${words.join(', ')}.`];
        return [status, refused(op, status, sentences.filter(Boolean).join(' '))];
      }),
    ),
    default: {
      description: 'An error of the store or of its disk, or the store is stopping. The client may try again.',
      headers: headersWith('retry-after'),
      content: refusalContent(op),
    },
  };
}

/** The possible refusal codes of an operation: its own, and the ones that its record implies. */
export function refusalsOf(op: Operation): RefusalCode[] {
  const readsBody = op.body !== undefined || op.consumes !== undefined;
  const mayHaveBody = readsBody || op.access.inPayload === true || op.path.includes(':namespace');
  const implied: RefusalCode[] = [
    'api-error',
    ...(op.access === anyone ? [] : unproven(op)),
    ...(op.access.permissions.length > 0 ? (['permission-required'] as const) : []),
    ...(op.path.includes(':') ? (['resource-not-found'] as const) : []),
    ...(mayHaveBody && op.method !== 'GET' ? (['request-too-large', 'unsupported-media-type'] as const) : []),
  ];
  return [...new Set([...implied, ...(op.refuses ?? [])])];
}

function unproven({ errors }: Operation): RefusalCode[] {
  if (errors === 'registry') return ['unauthorized'];
  if (errors === 'juju') return [];
  if (errors === 'snapd') {
    return [
      'macaroon-authorization-required',
      'user-authorization-needs-refresh',
      'device-authorization-needs-refresh',
    ];
  }
  return ['macaroon-authorization-required', 'macaroon-needs-refresh'];
}

/** The media types of a successful response, each with its schema. */
export function contentOf({ response, produces = [] }: Operation): ResponsesJson {
  const others: [string, ResponsesJson][] = Array.isArray(produces)
    ? (produces as string[]).map((type) => [type, { type: 'string' }])
    : Object.entries(produces as Record<string, string>).map(([type, shape]) => [type, reference(shape)]);
  const all: [string, ResponsesJson][] = [
    ...(response === undefined ? [] : [['application/json', reference(response)] satisfies [string, ResponsesJson]]),
    ...others,
  ];
  return Object.fromEntries(all.map(([type, schema]) => [type, { schema }]));
}

function successes(op: Operation): ResponsesJson {
  const content = contentOf(op);
  const status = op.status ?? (Object.keys(content).length === 0 ? 204 : 200);
  const example = examples().get(op.name);
  const withExample = Object.fromEntries(
    Object.entries(content).map(([type, mediaContent]) => [
      type,
      {
        ...(mediaContent as ResponsesJson),
        ...(example?.type === type && example.answer !== undefined && { example: example.answer }),
      },
    ]),
  );
  const described = (description: string, holds: ResponsesJson): ResponsesJson => ({
    description,
    headers: headersWith(
      ...(op.headers ?? []),
      ...(op.access.about === 'public' ? [] : (['macaroon-expires'] as const)),
    ),
    ...(Object.keys(holds).length > 0 && { content: holds }),
  });
  return {
    [String(status)]: described('Done.', withExample),
    ...Object.fromEntries(
      Object.entries(op.also ?? {}).map(([other, meaning]) => [
        other,
        described(meaning, [204, 303, 304].includes(Number(other)) ? {} : content),
      ]),
    ),
  };
}

function refused(op: Operation, status: string, description: string): ResponsesJson {
  const waits = status === '429' || status === '507';
  const asks = status === '401' && (op.errors === 'registry' || op.errors === 'snapd');
  return {
    description,
    headers: headersWith(
      ...(op.headers ?? []),
      ...(waits ? (['retry-after'] as const) : []),
      ...(asks ? (['www-authenticate'] as const) : []),
    ),
    content: refusalContent(op),
  };
}

const refusalContent = (op: Operation): ResponsesJson => ({
  ...(op.refusesWithPages === true && { 'text/html': { schema: { type: 'string' } } }),
  'application/json': { schema: refusals[op.errors ?? 'publisher'] },
});

const text = { type: 'string' };
const list = { type: 'array', minItems: 1, items: { type: 'object', properties: { code: text, message: text } } };
const object = (properties: ResponsesJson): ResponsesJson => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

/** The error format of each family of clients. */
const refusals: Readonly<Record<ErrorFamily, ResponsesJson>> = {
  publisher: reference('RefusalBody'),
  bakery: object({ Code: text, Message: text }),
  sso: object({ code: text, message: text, extra: { type: 'object' }, error_list: list }),
  dashboard: object({ error_list: list }),
  device: object({ message: text, error_list: list }),
  libraries: object({
    'error-list': {
      type: 'array',
      minItems: 1,
      items: { type: 'object', properties: { code: { type: 'null' }, message: text } },
    },
  }),
  registry: object({ errors: list }),
  snapd: reference('RefusalBody'),
  juju: reference('RefusalBody'),
};
