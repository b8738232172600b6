// Reads documents of OpenVEX 0.2.0: statements about whether products are affected by vulnerabilities.
import { dateOf, InvalidEntry, listOf, membersOf, type InvalidEntryReport, type JsonMembers } from './feed-entry.ts';

export const vexStatuses = ['not_affected', 'affected', 'fixed', 'under_investigation'] as const;
export type VexStatus = (typeof vexStatuses)[number];

export interface VexDocument {
  id: string;
  author: string;
  datedAt: string;
  statements: VexStatement[];
}

export interface VexStatement {
  /** The name of the vulnerability and its aliases. */
  vulnerabilities: string[];
  products: VexProduct[];
  status: VexStatus;
  /** One of the justifications of the format. */
  justification: string | null;
  impact: string | null;
  statedAt: string;
}

export interface VexProduct {
  /** Identifiers: package URLs, other addresses, and digests as `sha-256:HEX`. */
  ids: string[];
  /** The identifiers of the components of the product that the statement is about; empty for the product itself. */
  subcomponents: string[][];
}

const justifications = [
  'component_not_present',
  'vulnerable_code_not_present',
  'vulnerable_code_not_in_execute_path',
  'vulnerable_code_cannot_be_controlled_by_adversary',
  'inline_mitigations_already_exist',
];
const limits = { statements: 100_000, names: 100, products: 20_000, subcomponents: 1_000 };
const maxText = 2_000;

export const isOpenVex = (value: unknown): boolean => {
  const context = membersOf(value)['@context'];
  return typeof context === 'string' && context.startsWith('https://openvex.dev/ns');
};

/** Reads a document. Throws `InvalidEntry`. */
export function parseOpenVex(value: unknown): VexDocument {
  const document = membersOf(value);
  const id = textIn(document, '@id');
  const author = textIn(document, 'author');
  if (id === null || author === null) throw new InvalidEntry('an OpenVEX document has no id or no author');
  const invalid = (problem: string): never => {
    throw new InvalidEntry(`the OpenVEX document ${id.slice(0, 200)} ${problem}`);
  };
  const datedAt = dateOf(document['last_updated']) ?? dateOf(document['timestamp']);
  if (datedAt === undefined) return invalid('has no valid time');
  const statements = listOf(document['statements'], limits.statements, invalid).map((entry) =>
    parseStatement(membersOf(entry), datedAt, invalid),
  );
  return { id, author, datedAt, statements };
}

function parseStatement(statement: JsonMembers, datedAt: string, invalid: InvalidEntryReport): VexStatement {
  const { vulnerability, status, justification } = statement;
  const vulnerabilities =
    typeof vulnerability === 'string'
      ? [vulnerability]
      : [membersOf(vulnerability)['name'], ...listOf(membersOf(vulnerability)['aliases'], limits.names, invalid)];
  const names = vulnerabilities.filter((name) => typeof name === 'string' && /^[A-Za-z0-9][\w.:+-]{0,99}$/.test(name));
  if (names.length === 0 || names.length < vulnerabilities.length)
    return invalid('has a statement without a valid name of a vulnerability');
  const parsed = vexStatuses.find((candidate) => candidate === status);
  if (parsed === undefined) return invalid('has a statement without a valid status');
  if (justification !== undefined && !justifications.includes(justification as string))
    return invalid('has a statement with an unknown justification');
  const impact = textIn(statement, 'impact_statement');
  if (parsed === 'not_affected' && justification === undefined && impact === null)
    return invalid('says not_affected without a justification');
  return {
    vulnerabilities: [...new Set(names as string[])],
    products: listOf(statement['products'], limits.products, invalid).map((product) => parseProduct(product, invalid)),
    status: parsed,
    justification: (justification as string | undefined) ?? null,
    impact: impact ?? textIn(statement, 'status_notes') ?? textIn(statement, 'action_statement'),
    statedAt: dateOf(statement['last_updated']) ?? dateOf(statement['timestamp']) ?? datedAt,
  };
}

function parseProduct(product: unknown, invalid: InvalidEntryReport): VexProduct {
  const subcomponents = listOf(membersOf(product)['subcomponents'], limits.subcomponents, invalid);
  return { ids: idsOf(product), subcomponents: subcomponents.map(idsOf) };
}

function idsOf(product: unknown): string[] {
  const { '@id': id, identifiers, hashes } = membersOf(product);
  const digests = Object.entries(membersOf(hashes)).map(([kind, digest]) => `${kind}:${String(digest)}`);
  const ids = [typeof product === 'string' ? product : id, membersOf(identifiers)['purl'], ...digests.slice(0, 20)];
  return [...new Set(ids.filter((text) => typeof text === 'string').map((text) => text.slice(0, 1_000)))];
}

const textIn = (members: JsonMembers, key: string): string | null => {
  const text = members[key];
  return typeof text === 'string' && text !== '' ? text.slice(0, maxText) : null;
};
