// The packages that an administrator leaves out of a transfer: the field for them, and the globs that were typed into it.
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { TransferPreview } from '#contract/wire.ts';
import { isPackageGlob } from '#domain/packages/package-glob.ts';
import { Refusal } from '#domain/refusal.ts';
import { longField } from '../parts/form.ts';
import { count } from '../parts/values.ts';
import { addressOfTransfer } from './transfer-parts.ts';

/** The longest text of the field, as in the schema: an address has to hold it. */
const maxLength = 4000;

/** The distinct globs of a text, in order of appearance. */
export function parseExclusions(text = ''): string[] {
  const globs = [...new Set(text.split(/[\s,]+/).filter((piece) => piece !== ''))];
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

/** The form that previews the transfer again, filled in with the packages that cannot be accepted. */
export function renderExclusionForm(
  id: string,
  { typed, blocked }: { typed: string; blocked: readonly string[] },
): Html {
  const value =
    blocked.length === 0
      ? typed
      : formatExclusions([...new Set([...typed.split(/[\s,]+/).filter(Boolean), ...blocked])]);
  const isTooLong = value.length > maxLength;
  return html`<h2>Leave packages out</h2>
    ${
      blocked.length === 0
        ? nothing
        : html`<p>
            ${blocked.length === 1 ? '1 package cannot' : html`${count(blocked.length)} packages cannot`} be accepted.
            Leave ${blocked.length === 1 ? 'it' : 'them'} out to accept the rest.
          </p>`
    }
    ${
      isTooLong
        ? html`<p>
            These are too many packages for this page. Use
            <code>larder transfer accept ${id.slice(0, 12)} --without PACKAGE</code> on the host of the store.
          </p>`
        : nothing
    }
    <form method="get" action="${addressOfTransfer(id)}">
      ${longField({
        name: 'without',
        label: 'Packages to leave out',
        value: isTooLong ? typed : value,
        maxLength,
        hint: html`Names or globs such as <code>snap/hello, charm/*</code>. Nothing changes before you accept.`,
      })}
      <button>Preview without them</button>
    </form>`;
}
