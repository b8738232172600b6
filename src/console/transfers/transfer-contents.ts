// The changes of a transfer by package, each package folded, with a checkbox to leave it out.
import type { PlanLine } from '#acts/transfers/plan-types.ts';
import type { TransferPreview } from '#contract/wire.ts';
import { isPackageGlob } from '#domain/packages/package-glob.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { writeCursor } from '#operations/cursor.ts';
import { withQuery } from '../parts/address.ts';
import { longField } from '../parts/form.ts';
import { badge } from '../parts/notice.ts';
import { emptyState, nextPage, table } from '../parts/table.ts';
import { count, formatCount, withValues } from '../parts/values.ts';
import { addressOfTransfer } from './transfer-parts.ts';

/** The maximum of packages on a page, of their changes together, and of changes of one package; each change has about 0.5 kB. */
const maxPackages = 50;
const maxChanges = 200;
/** Packages are unfolded at once if there are so few. */
const maxUnfolded = 3;
/** The longest text of the packages to leave out, as in the schema: an address has to hold it. */
const maxLength = 4000;

interface TransferContentsInput {
  id: string;
  changes: readonly PlanLine[];
  /** Problems and vulnerabilities by package; undefined for a receipt. */
  preview: TransferPreview | undefined;
  /** The globs to leave out; undefined if the reader cannot choose. */
  without: readonly string[] | undefined;
  /** The number of packages on earlier pages. */
  from: number;
}

interface ChangedPackage {
  name: string;
  changes: readonly PlanLine[];
}

export function renderContents(contents: TransferContentsInput): Html {
  const { id, changes, preview, without, from } = contents;
  const leftOut = (without ?? []).filter((glob) => !glob.includes('*'));
  const blocked = preview?.problems.map((problem) => problem.package) ?? [];
  const byPackage = Map.groupBy(changes, (change) => change.package);
  const names = [...new Set([...byPackage.keys(), ...blocked, ...leftOut])].filter((name) => name !== '');
  const all = names.map((name): ChangedPackage => ({ name, changes: byPackage.get(name) ?? [] }));
  const shown = selectPackages(all.slice(from, from + maxPackages));
  const next = from + shown.length;
  const furtherLeftOut = leftOut.filter((name) => !shown.some((entry) => entry.name === name));
  const list =
    all.length === 0
      ? emptyState('The transfer changes nothing.')
      : html`${all.length > shown.length ? html`<p>Packages ${count(from + 1)} to ${count(next)} of ${count(all.length)}. <code>larder transfer preview ${id.slice(0, 12)} --html FILE</code> writes all of them on one page.</p>` : nothing}
          <ul class="changes">
            ${shown.map((entry) => renderPackage(entry, contents, all.length <= maxUnfolded))}
          </ul>`;
  const pager = nextPage(
    next < all.length
      ? withQuery(addressOfTransfer(id), { without: (without ?? []).join(' '), cursor: writeCursor([String(next)]) })
      : undefined,
    'Next packages',
  );
  if (without === undefined) return html`${list} ${pager}`;
  const others = without.filter((glob) => glob.includes('*'));
  return html`<form class="wide" method="get" action="${addressOfTransfer(id)}">
      ${list} ${furtherLeftOut.map((name) => html`<input type="hidden" name="without" value="${name}" />`)}
      <details class="more" ${others.length === 0 ? nothing : html`open`}>
        <summary>Leave out by a pattern</summary>
        ${longField({
          name: 'without',
          label: 'More packages to leave out',
          value: others.join(', '),
          maxLength,
          hint: html`Names or globs such as <code>snap/hello, charm/*</code>.`,
        })}
      </details>
      <p class="row">
        <button class="second">Preview without the ticked packages</button>
        <span class="hint">Nothing changes before you accept.</span>
      </p>
    </form>
    ${pager}`;
}

/** The first packages, as many as fit with their changes; at least one. */
function selectPackages(all: readonly ChangedPackage[]): ChangedPackage[] {
  const selected: ChangedPackage[] = [];
  let room = maxChanges;
  for (const entry of all) {
    if (selected.length > 0 && entry.changes.length > room) break;
    room -= entry.changes.length;
    selected.push(entry);
  }
  return selected;
}

function renderPackage(
  { name, changes }: ChangedPackage,
  { preview, without }: TransferContentsInput,
  isOpen: boolean,
): Html {
  const problems = preview?.problems.filter((problem) => problem.package === name) ?? [];
  const isLeftOut = without?.includes(name) === true;
  const added = preview?.vulnerabilities?.new.filter((entry) => entry.package === name) ?? [];
  const fixed = preview?.vulnerabilities?.fixed.filter((entry) => entry.package === name) ?? [];
  const remarks = [...new Set(changes.flatMap(({ notes }) => notes))].slice(0, 4);
  return html`<li>
    <details ${isOpen ? html`open` : nothing}>
      <summary>
        <strong>${name}</strong>
        ${changes.length > 0 || isLeftOut ? html`<span class="hint">${isLeftOut ? 'left out' : formatCount(changes.length, 'change')}</span>` : nothing}
        ${problems.length === 0 ? nothing : badge('warn', 'cannot be accepted')}
        ${added.length === 0 ? nothing : badge('warn', `adds ${formatCount(added.length, 'vulnerability', 'vulnerabilities')}`)}
        ${fixed.length === 0 ? nothing : badge('good', `fixes ${formatCount(fixed.length, 'vulnerability', 'vulnerabilities')}`)}
        ${remarks.map((remark) => badge('note', remark.length > 40 ? `${remark.slice(0, 39)}…` : remark))}
      </summary>
      ${problems.map(({ what: subject, why: cause }) => html`<p>${subject === name ? nothing : html`${withValues(subject)}: `}${withValues(cause)}</p>`)}
      ${changes.length === 0 ? nothing : renderChanges(name, changes)}
    </details>
    ${
      without === undefined || !isPackageGlob(name)
        ? nothing
        : html`<label class="tick"
            ><input
              type="checkbox"
              name="without"
              value="${name}"
              ${isLeftOut || problems.length > 0 ? html`checked` : nothing}
            />
            Leave out<span class="unseen"> ${name}</span></label
          >`
    }
  </li>`;
}

const renderChanges = (name: string, changes: readonly PlanLine[]): Html =>
  html`${table<PlanLine>({
    caption: `Changes of ${name}, each with the authority that vouches for it`,
    empty: '',
    rows: changes.slice(0, maxChanges),
    columns: [
      { heading: 'What', cell: ({ what: object }) => withValues(object) },
      { heading: 'Now', cell: ({ from: before }) => withValues(before ?? 'nothing') },
      { heading: 'Then', cell: ({ to }) => withValues(to ?? 'nothing') },
      { heading: 'Word of', cell: ({ word }) => word },
      { heading: 'Notes', cell: ({ notes }) => (notes.length === 0 ? 'none' : withValues(notes.join('; '))) },
    ],
  })}
  ${changes.length > maxChanges ? html`<p class="hint">And ${count(changes.length - maxChanges)} more changes.</p>` : nothing}`;
