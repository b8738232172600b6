// larder closure
import type { Missing } from '#domain/closure.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { missingHere } from '#transfers/closure.ts';

export const closure = command({
  name: 'closure',
  summary: 'Name what is missing here for what is released: bases, snapd, content providers, resources.',
  description:
    'Of snaps it looks for their base, snapd and the snaps that share content with them, for each architecture; of models ' +
    'for gadget, kernel and what else they name; of charms for resources without a revision, of bundles for their charms. ' +
    'Exit code 1 means that something is missing.',
  examples: ['larder closure', 'larder closure --json'],

  run: (call) =>
    withStore(call, async ({ records }) => {
      const missing = await missingHere(records, { snaps: true, charms: true });
      return { text: inText(missing), json: { missing: missing.map(inJson) }, exitCode: missing.length === 0 ? 0 : 1 };
    }),
});

const inJson = ({ by, ...what }: Missing) => ({ ...what, 'needed-by': by });

/** So many of those who need something are named. */
const most = 3;

function inText(missing: readonly Missing[]): string {
  if (missing.length === 0) return 'Nothing is missing for what is released here.';
  const rows = missing.map(({ kind, name, architecture, by }) => [
    name,
    kind,
    architecture,
    by.length > most ? `${by.slice(0, most).join(', ')} and ${by.length - most} more` : by.join(', '),
  ]);
  return `${table(['MISSING', 'KIND', 'ARCHITECTURE', 'NEEDED BY'], rows)}\n\nCarry snaps in with 'larder package import'.`;
}
