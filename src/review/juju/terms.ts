// Checks the terms that an operator of a charm agrees to (juju/charm v12, meta.go: `tenant:owner/name/revision`).
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { refused, textOf, type YamlPlace } from './values.ts';

/** A letter, then groups of letters and digits with single dashes between them; at least two characters. */
const isTermName = (text: string): boolean => text.length > 1 && /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(text);
/** A user of juju (juju/names v5, user.go). */
const isUser = (text: string): boolean =>
  text.split('@').length <= 2 && text.split('@').every((part) => /^[a-zA-Z0-9][a-zA-Z0-9.+-]*[a-zA-Z0-9]$/.test(part));
const isNumber = (text: string): boolean => /^[+-]?\d{1,18}$/.test(text);

interface Term {
  tenant: string;
  owner: string;
  name: string;
  revision: string;
}

function parseTerm(text: string): Term | undefined {
  const colon = text.indexOf(':');
  const [tenant, rest] = colon < 0 ? ['', text] : [text.slice(0, colon), text.slice(colon + 1)];
  const parts = rest.split('/');
  const [first = '', second = '', third = ''] = parts;
  switch (parts.length) {
    case 1:
      return { tenant, owner: '', name: first, revision: '0' };
    case 2:
      return isNumber(second)
        ? { tenant, owner: '', name: first, revision: second }
        : { tenant, owner: first, name: second, revision: '0' };
    case 3:
      return { tenant, owner: first, name: second, revision: third };
    default:
      return undefined;
  }
}

export function checkTerm(value: TypedYaml, place: YamlPlace): void {
  const text = textOf(value, place);
  const term = parseTerm(text);
  if (term !== undefined) {
    const { tenant, owner, name, revision } = term;
    const isTenant = tenant === '' || tenant === 'cs' || isTermName(tenant);
    if (
      isTenant &&
      (owner === '' || isUser(owner)) &&
      isTermName(name) &&
      isNumber(revision) &&
      !revision.startsWith('-')
    )
      return;
  }
  throw refused(place, `the term ${quoted(text)} is none`, 'Write such as owner/name/1.');
}
