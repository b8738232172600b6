// The OpenAPI document, derived from the operation records, the shapes and the recorded examples.
import { examples } from './examples.ts';
import { everyHeader } from './response-headers.ts';
import { responsesOf } from './responses.ts';
import { allSchemas, reference, schemasIn } from './schemas.ts';
import { isForAnyone, type Operation, type OperationSection } from '#http/operation.ts';

type OpenApiJson = Record<string, unknown>;

/** OpenAPI 3.1 of the operations of these sections; the caller leaves out operations that are turned off. */
export function openapi(sections: readonly OperationSection[], version: string): OpenApiJson {
  const paths: Record<string, OpenApiJson> = {};
  for (const section of sections) {
    for (const op of section.operations) {
      const path = op.path.replace(/:(\w+)/g, '{$1}');
      paths[path] = { ...paths[path], [op.method.toLowerCase()]: described(op, section.title) };
    }
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
      { url: '/publishergw', description: 'The same operations, at the paths that official clients use.' },
    ],
    tags: sections.map(({ title, about }) => ({ name: title, description: about })),
    paths,
    components: {
      headers: everyHeader,
      securitySchemes: {
        macaroon: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: '`Macaroon TOKEN` or `Bearer TOKEN`.',
        },
      },
      schemas: schemasIn(paths),
    },
  };
}

function described(op: Operation, section: string): OpenApiJson {
  const { name, summary, access, since, enabledBy } = op;
  const parameters = [...inPath(op), ...queryOf(op)];
  const requestBody = bodyOf(op);
  return {
    operationId: name,
    summary,
    tags: [section],
    description:
      access.permissions.length === 0
        ? `For ${access.who}.`
        : `For ${access.who}. Needs ${access.permissions.join(' or ')}.`,
    ...(since > 0 && { 'x-since': since }),
    ...(enabledBy !== undefined && { 'x-enabled-by': enabledBy }),
    security: securityOf(op),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== undefined && { requestBody }),
    responses: responsesOf(op),
  };
}

/** If anyone may call an operation, a token is optional: the empty requirement says so. With a token some responses contain more. */
function securityOf(op: Operation): OpenApiJson[] {
  if (!isForAnyone(op)) return [{ macaroon: [] }];
  return op.access.about === 'public' ? [] : [{}, { macaroon: [] }];
}

function inPath({ name, path }: Operation): OpenApiJson[] {
  const example = examples().get(name)?.path.split('?')[0]?.split('/') ?? [];
  return path.split('/').flatMap((part, at) => {
    if (!part.startsWith(':')) return [];
    const value = decodeURIComponent(example[at] ?? '');
    const schema = { type: 'string', maxLength: 200 };
    return [{ name: part.slice(1), in: 'path', required: true, schema, ...(value !== '' && { example: value }) }];
  });
}

function queryOf({ query }: Operation): OpenApiJson[] {
  const schema = query === undefined ? undefined : allSchemas().get(query);
  const required = (schema?.['required'] ?? []) as string[];
  return Object.entries((schema?.['properties'] ?? {}) as Record<string, OpenApiJson>).map(([name, member]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(typeof member['description'] === 'string' && { description: member['description'] }),
    schema: member,
  }));
}

/** The macaroon that charm operations and exchanges accept in the payload if the headers have none. */
const macaroonInPayload = {
  required: false,
  description: 'The macaroon, if it is not in a header: for the charm namespace and for an exchange.',
  content: {
    'application/json': {
      schema: { type: 'object', properties: { macaroon: { type: ['string', 'object', 'array'] } } },
    },
  },
};

const formOfOneFile = {
  type: 'object',
  required: ['binary'],
  properties: { binary: { type: 'string', format: 'binary' } },
};

function bodyOf(op: Operation): OpenApiJson | undefined {
  const { name, method, path, access, body, consumes } = op;
  const type = consumes ?? 'application/json';
  const json = type === 'application/json';
  if (body === undefined && json) {
    const mayBring = method !== 'GET' && (access.inPayload === true || path.includes(':namespace'));
    return mayBring ? macaroonInPayload : undefined;
  }
  const bytes = type === 'multipart/form-data' ? formOfOneFile : { type: 'string' };
  const example = json ? examples().get(name)?.body : undefined;
  return {
    required: op.bodyOptional !== true && body !== undefined,
    content: {
      [type]: {
        schema: body === undefined ? bytes : reference(body),
        ...(example !== undefined && { example }),
      },
    },
  };
}
