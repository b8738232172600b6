// The OpenAPI document: derived from the operation records and the shapes, never written.
import type { Operation } from './operation.ts';
import type { ErrorFamily } from './refusals.ts';
import { shapes } from './schema.ts';

type Json = Record<string, unknown>;

/** OpenAPI 3.1 of these operations. */
export function openapi(operations: readonly Operation[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const op of operations) {
    const path = op.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [op.method.toLowerCase()]: described(op) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'larder',
      version,
      summary: 'A package store for sites without internet.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: '/', description: 'This store.' },
      { url: '/publishergw', description: 'The same operations, as official clients address them.' },
    ],
    tags: tags(operations).map((name) => ({
      name,
      description: about[name] ?? `The ${name.toLowerCase()} of a package.`,
    })),
    paths,
    components: {
      securitySchemes: {
        macaroon: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'Macaroon TOKEN, or Bearer TOKEN.',
        },
      },
      schemas: schemasOf(operations),
    },
  };
}

/** How addresses begin, and the section that a reader looks for them in; the first that fits counts. */
const beginnings: readonly (readonly [string, string])[] = [
  ['/v1/tokens', 'Tokens'],
  ['/api/v1/snaps/auth', 'Devices'],
  ['/device-service', 'Devices'],
  ['/api/', 'Tokens'],
  ['/dev/api', 'Older tools'],
  ['/v1/brand', 'Brands'],
  ['/v1/charm/libraries', 'Charm libraries'],
  ['/v1/craft', 'Builds'],
  ['/internal/v1/craft', 'Builds'],
  ['/v1/auth', 'Package access'],
  ['/internal', 'Package access'],
  ['/v1/:namespace/:name/tracks', 'Releases'],
  ['/identity', 'Identity'],
  ['/unscanned-upload', 'Revisions'],
  ['/icons', 'Names'],
  ['/v2/', 'Images'],
  ['/registry', 'Images'],
];

/** The section that an operation belongs to, as a reader looks for it. */
export function tagOf({ path, since }: Operation): string {
  const known = beginnings.find(([beginning]) => path.startsWith(beginning));
  if (known !== undefined) return known[1];
  const [, part] = /^\/v1\/:namespace\/:name\/(\w+)/.exec(path) ?? [];
  if (part !== undefined) return part.charAt(0).toUpperCase() + part.slice(1);
  if (path.startsWith('/v1/:namespace')) return 'Names';
  return since === 0 ? 'The appliance' : 'Service';
}

/** What each section is for, where its name does not say it. */
const about: Readonly<Record<string, string>> = {
  Service: 'What this store is.',
  Tokens: 'Getting, exchanging, narrowing and revoking tokens.',
  Names: 'Registering package names, and what is known of them.',
  Revisions: 'Uploading files, having them reviewed, and what comes of it.',
  Builds: 'How builds of packages go: read by publishers, written by the machines that build.',
  'Package access': 'Who may do and fetch what, as device gateways and other machines of the site ask.',
  Brands: 'Brands with their models, signing keys, serial policies and remodel allowlists.',
  Images: 'The registry of images inside, as the OCI distribution specification has it.',
  Devices: 'What snapd on a device asks: for a serial, above all.',
  Identity: 'Logging in at the identity provider inside, as browsers, bakery clients and older tools do.',
  'Older tools': 'What stock snapcraft asks of the store that it was written for.',
  'The appliance': 'What this store offers beside the interface: health, metrics, documents, its authority.',
};

export const tags = (operations: readonly Operation[]): string[] => [...new Set(operations.map(tagOf))];

function reference(shape: string): Json {
  return { $ref: `#/components/schemas/${shape}` };
}

function described(op: Operation): Json {
  const { name, summary, path, query, body, response, access, status, produces, consumes, bodyOptional, since } = op;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, parameter]) => ({
    ...{ name: parameter, in: 'path', required: true },
    schema: { type: 'string', maxLength: 200 },
  }));
  const success = String(status ?? (response === undefined && produces === undefined ? 204 : 200));
  const content = {
    ...(response !== undefined && { 'application/json': { schema: reference(response) } }),
    ...Object.fromEntries((produces ?? []).map((type) => [type, { schema: { type: 'string' } }])),
  };
  return {
    operationId: name,
    summary,
    tags: [tagOf(op)],
    description:
      access.permissions.length === 0
        ? `For ${access.who}.`
        : `For ${access.who}. Needs ${access.permissions.join(' or ')}.`,
    'x-since': since,
    ...(op.enabledBy !== undefined && { 'x-enabled-by': op.enabledBy }),
    security: access.who.startsWith('anyone') ? [] : [{ macaroon: [] }],
    ...(inPath.length + queryOf(query).length > 0 && { parameters: [...inPath, ...queryOf(query)] }),
    ...((body !== undefined || consumes === 'multipart/form-data') && {
      requestBody: {
        required: bodyOptional !== true,
        content: {
          [consumes ?? 'application/json']: {
            schema:
              body !== undefined
                ? reference(body)
                : {
                    type: 'object',
                    required: ['binary'],
                    properties: { binary: { type: 'string', format: 'binary' } },
                  },
          },
        },
      },
    }),
    responses: {
      [success]: { description: 'Done.', ...(Object.keys(content).length > 0 && { content }) },
      '4XX': {
        description: 'Refused; the codes are on the page of errors.',
        content: { 'application/json': { schema: refusals[op.errors ?? 'publisher'] } },
      },
      default: {
        description: 'A fault of the store or of its disk; it may be asked again.',
        content: { 'application/json': { schema: refusals[op.errors ?? 'publisher'] } },
      },
    },
  };
}

const text = { type: 'string' };
const list = { type: 'array', minItems: 1, items: { type: 'object', properties: { code: text, message: text } } };
const object = (properties: Json): Json => ({ type: 'object', required: Object.keys(properties), properties });

/** How each family of clients reads that it was refused. */
const refusals: Readonly<Record<ErrorFamily, Json>> = {
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
};

const schemas = (): Map<string, Json> => new Map(shapes().map(({ shape, schema }) => [shape, schema]));

function queryOf(shape: string | undefined): Json[] {
  const schema = shape === undefined ? undefined : schemas().get(shape);
  const required = (schema?.['required'] ?? []) as string[];
  return Object.entries((schema?.['properties'] ?? {}) as Record<string, Json>).map(([name, member]) => ({
    ...{ name, in: 'query', required: required.includes(name) },
    ...(typeof member['description'] === 'string' && { description: member['description'] }),
    schema: local(member),
  }));
}

/** Every shape that an operation names, and those that they name in turn. */
export function schemasOf(operations: readonly Operation[], withQueries = false): Json {
  const all = schemas();
  const wanted = new Set<string>();
  const want = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (wanted.has(name)) continue;
      wanted.add(name);
      want(local(all.get(name)));
    }
  };
  want(operations.map(described));
  // In the document the members of a query stand as parameters; its pages show the shape.
  if (withQueries) want(operations.flatMap(({ query }) => (query === undefined ? [] : [reference(query)])));
  return Object.fromEntries([...wanted].sort().map((name) => [name, local(all.get(name))]));
}

/** A schema whose references lead to the one document. */
const local = (schema: unknown): unknown =>
  schema === undefined
    ? {}
    : (JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
        key === '$ref' && typeof value === 'string'
          ? value.replace(/^(?:\w+\.json)?#\/\$defs\//, '#/components/schemas/')
          : value,
      ) as unknown);
