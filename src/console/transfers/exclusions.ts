// The packages that an administrator leaves out of a transfer: the globs that were ticked or typed.
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { TransferPreview } from '#contract/wire.ts';
import { isPackageGlob } from '#domain/packages/package-glob.ts';
import { Refusal } from '#domain/refusal.ts';
import { count } from '../parts/values.ts';

/** The pieces of a text between commas and blanks, each once. */
export const splitExclusions = (text = ''): string[] => [
  ...new Set(text.split(/[\s,]+/).filter((piece) => piece !== '')),
];

/** The distinct globs of a text, in order of appearance. */
export function parseExclusions(text = ''): string[] {
  const globs = splitExclusions(text);
  const wrong = globs.find((glob) => !isPackageGlob(glob));
  if (wrong === undefined) return globs;
  throw new Refusal(
    'api-error',
    `'${wrong.slice(0, 64)}' is not the name of a package. Write a name such as snap/hello, or a glob such as charm/*.`,
  );
}

export const formatExclusions = (globs: readonly string[]): string => globs.join(', ');

/** The packages that cannot be accepted. Empty if the whole transfer cannot be accepted, because then no choice of packages helps. */
export function findBlockedPackages({ problems }: Pick<TransferPreview, 'problems'>): string[] {
  const blocked = [...new Set(problems.map((problem) => problem.package))];
  return blocked.every(isPackageGlob) ? blocked : [];
}

/** The longest text of packages to leave out, as in the schema: an address has to hold it. */
const maxLength = 4000;

/** Tells how many packages have to be left out, and where. */
export function describeBlocked(id: string, { typed, blocked }: { typed: string; blocked: readonly string[] }): Html {
  if (blocked.length === 0) return nothing;
  const isOne = blocked.length === 1;
  return html`<p>
    ${isOne ? '1 package cannot' : html`${count(blocked.length)} packages cannot`} be accepted. Leave
    ${isOne ? 'it' : 'them'} out to accept the
    rest${
      [typed, ...blocked].join(' ').length > maxLength
        ? html`: these are too many packages for this page, so use
            <code>larder transfer accept ${id.slice(0, 12)} --without PACKAGE</code> on the host of the store`
        : ', under "Changes" above'
    }.
  </p>`;
}
