// Examines the accepted vulnerabilities: the acceptances that have ended or end soon.
import { after, days, timestamp } from '#domain/clock.ts';
import { formatCount } from '#domain/quantities.ts';
import type { ListedAcceptance } from '#records/vulnerabilities/accepted-findings.ts';
import { notice, well, type Examination } from './examination.ts';

const noticeDays = 14;
const maxListed = 1000;

export const acceptances: Examination = {
  subject: 'Acceptances',
  async look(patient) {
    const { records, now } = await patient.store();
    const at = now();
    const ending = await records.acceptedFindings.endingBefore(timestamp(after(at, days(noticeDays))), maxListed);
    const [first] = ending;
    if (first === undefined) return well(`no accepted vulnerability counts again within ${String(noticeDays)} days`);
    const ended = ending.filter(({ until }) => until <= timestamp(at)).length;
    return notice(
      ended > 0
        ? `${formatCount(ended, 'accepted vulnerability counts', 'accepted vulnerabilities count')} again, first ${describe(first)}`
        : `${formatCount(ending.length, 'acceptance of a vulnerability ends', 'acceptances of vulnerabilities end')} soon, first ${describe(first)}`,
      "'larder vulnerability accepted' lists all. Accept each again with 'larder vulnerability accept', or remove it with 'larder vulnerability withdraw'.",
    );
  },
};

const describe = ({ vulnerability, namespace, name, until }: ListedAcceptance): string =>
  `${vulnerability} of ${namespace}/${name} (${until.slice(0, 10)})`;
