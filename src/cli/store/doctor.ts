// larder doctor
import { command } from '../frame/command.ts';
import { examineEach, type Finding, type Level } from '#examinations/examination.ts';
import { examinations } from '#examinations/index.ts';
import { becomeOwner } from '../frame/owner.ts';
import { patientIn } from './patient.ts';
import { unitState } from './service.ts';
import { style, visible, type Style } from '../frame/terminal.ts';

type Told = Finding & { what: string };

export const doctor = command({
  name: 'doctor',
  summary: 'Check everything the store stands on, and say how to mend what is wrong.',
  description:
    'Looks at the configuration, the keys, who may read the files, the disk, the clock, the certificate, the database ' +
    "and the blobs, quickly; 'larder verify' reads every byte. It changes nothing. Everything that is looked at is always " +
    'listed: as well, as a notice, as wrong, or as what could not be looked at and why. Exit code 1 means that something is wrong.',
  examples: ['larder doctor', 'larder doctor --json'],

  async run({ data, world }) {
    const unit = unitState(data);
    becomeOwner(data);
    const patient = patientIn(data, world, unit);
    let findings: Told[];
    try {
      findings = await examineEach(examinations, patient);
    } finally {
      await patient.close();
    }
    const wrong = findings.filter(({ level }) => level === 'wrong').length;
    return {
      text: [...findings.map((finding) => line(finding, style(world.stdout, world.env))), '', sum(findings)].join('\n'),
      json: { good: wrong === 0, findings: findings.map((finding) => ({ ...finding, good: isGood(finding) })) },
      exitCode: wrong === 0 ? 0 : 1,
    };
  },
});

const isGood = ({ level }: Finding): boolean => level !== 'wrong';

const labels: Readonly<Record<Level, string>> = {
  well: 'ok   ',
  notice: 'note ',
  wrong: 'WRONG',
  'not looked at': '?    ',
};

function line({ what, level, says, mend }: Told, { red, bold }: Style): string {
  const label = level === 'wrong' ? red(labels[level]) : labels[level];
  return `${label} ${bold(what)}: ${visible(says)}${mend === undefined ? '' : `\n      ${visible(mend)}`}`;
}

function sum(findings: readonly Told[]): string {
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  const [wrong, notices] = [count('wrong'), count('notice')];
  if (wrong > 0) return `${String(wrong)} of ${String(findings.length)} need attention.`;
  return notices === 0 ? 'All is well.' : `All is well; ${String(notices)} to know of.`;
}
