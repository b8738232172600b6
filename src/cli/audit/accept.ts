// larder audit accept
import { acceptAudit } from '#acts/store/appliance.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { command, Failure } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const auditAccept = command({
  name: 'audit accept',
  summary: 'Continue with the audit log as it is, after an administrator has examined its errors.',
  description:
    'Use it for a log that was restored by hand, or if audit.seal is missing. larder does not seal a log that ' +
    'ends before its last seal until an administrator accepts it. The entry and the seal of this command name ' +
    "the missing end, and 'larder audit verify' reports it from then on. Errors in the rows themselves remain " +
    'errors.',
  examples: ['larder audit accept --data /var/lib/larder'],
  confirm: {
    question: () => 'Missing entries of the audit log stay missing. First copy the data directory and find the cause.',
    unattended: 'refused',
  },

  run: (call) =>
    withStore(call, async ({ records, acts, person, siteKey, sealing }) => {
      const { problems } = await verifyAudit(records, { siteKey, file: sealing.file });
      if (problems.length === 0) throw new Failure('the audit log has no errors; it was not changed');
      await acts.beginAnew(acceptAudit, person, { problems });
      const head = await records.audit.head();
      return {
        text: `The audit log continues from row ${String(head?.seq)}. The entry of this row names the errors, and 'larder audit verify' shows it.`,
        json: { accepted: head ?? null, problems },
      };
    }),
});
