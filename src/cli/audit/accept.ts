// larder audit accept
import { acceptAudit } from '#acts/store/appliance.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { command, Failure } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const auditAccept = command({
  name: 'audit accept',
  summary: 'Go on with the audit log as it is, after somebody has looked into what is wrong with it.',
  description:
    'For a log that was put back by hand, or whose audit.seal is gone: larder seals nothing over a log that does not ' +
    'reach as far as it had sealed, until somebody takes it as it is. The entry and the seal of this name what is left ' +
    "behind, and 'larder audit verify' tells of it from then on. What is wrong with the rows themselves stays wrong.",
  examples: ['larder audit accept --data /var/lib/larder'],
  confirm: {
    question: () =>
      'What is missing from the audit log stays missing: copy the data directory first, and find out how it came to that.',
    unattended: 'refused',
  },

  run: (call) =>
    withStore(call, async ({ records, acts, person, siteKey, sealing }) => {
      const { problems } = await verifyAudit(records, { siteKey, file: sealing.file });
      if (problems.length === 0) throw new Failure('nothing is wrong with the audit log; it is left as it is');
      await acts.beginAnew(acceptAudit, person, { problems });
      const head = await records.audit.head();
      return {
        text: `The audit log goes on from row ${String(head?.seq)}, whose entry names what was wrong. 'larder audit verify' shows it.`,
        json: { accepted: head ?? null, problems },
      };
    }),
});
