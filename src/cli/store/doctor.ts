// larder doctor
import { command, UsageError, type World } from '../frame/command.ts';
import { examineEach, type ExaminationFinding, type FindingLevel } from '#examinations/examination.ts';
import { examinations } from '#examinations/index.ts';
import { becomeOwner } from '../frame/owner.ts';
import { canAsk } from '../frame/questions.ts';
import { openExaminedStore } from './examined-store.ts';
import { readUnitState } from './service.ts';
import { style, visible, type Style } from '../frame/terminal.ts';

type DoctorFinding = ExaminationFinding & { what: string };

export const doctor = command({
  name: 'doctor',
  summary: 'Check everything that the store depends on, and show how to repair faults.',
  description:
    'Checks the configuration, the keys, file permissions, the disk, the clock, the certificate, the database ' +
    "and the blobs, quickly; 'larder verify' reads every byte. It changes nothing. The output always lists every " +
    'check as well, as a notice, as wrong, or as not possible with the reason. Exit code 1 means that something ' +
    'is wrong. With --bundle it also writes a tar archive for support staff from a fixed list of figures, codes ' +
    'and settings, and lists its files before it writes them.',
  options: {
    bundle: {
      type: 'string',
      value: 'FILE',
      summary: 'Also write a support bundle to this new file: figures and codes, without names, addresses and secrets.',
    },
    log: {
      type: 'string',
      value: 'LOGFILE',
      summary: 'With --bundle: the log file of the server. Default: the journal of the service.',
    },
  },
  examples: ['larder doctor', 'larder doctor --json', 'larder doctor --bundle ./larder-bundle.tar'],

  confirm: {
    async question({ options: { bundle, log }, data, world }) {
      if (bundle === undefined) return undefined;
      // Without a terminal, refuse before anything is read.
      if (!canAsk(world)) return `It would write a support bundle to ${bundle}.`;
      const { bundleList, prepareBundle } = await bundles();
      const prepared = await prepareBundle({ data, world }, { bundle, log });
      world.stderr.write(`${visibleLines(bundleList(prepared))}\n`);
      return `This writes these files to ${prepared.file}.`;
    },
    unattended: 'refused',
  },

  async run({ data, world, options: { bundle, log } }) {
    if (bundle === undefined) {
      if (log !== undefined) throw new UsageError('--log goes with --bundle alone');
      return answerOf(await examineAlone(data, world), world);
    }
    const { bundleList, prepareBundle, writeBundle } = await bundles();
    const prepared = await prepareBundle({ data, world }, { bundle, log });
    const written = await writeBundle(prepared);
    const answer = answerOf(prepared.findings, world);
    const members = prepared.members.map(({ name, bytes: { length } }) => ({ name, bytes: length }));
    return {
      ...answer,
      text: [answer.text, '', bundleList(prepared), `Written to ${prepared.file}.`].join('\n'),
      json: { ...answer.json, bundle: { file: prepared.file, ...written, members } },
    };
  },
});

/** Loaded on demand: the module loads the names of all operations. */
const bundles = () => import('./bundle/prepared-bundle.ts');

async function examineAlone(data: string, world: World): Promise<DoctorFinding[]> {
  const unit = readUnitState(data);
  becomeOwner(data);
  const patient = openExaminedStore(data, world, unit);
  try {
    return await examineEach(examinations, patient);
  } finally {
    await patient.close();
  }
}

function answerOf(findings: readonly DoctorFinding[], world: World) {
  const wrong = findings.filter(({ level }) => level === 'wrong').length;
  return {
    text: [...findings.map((finding) => line(finding, style(world.stdout, world.env))), '', sum(findings)].join('\n'),
    json: { good: wrong === 0, findings: findings.map((finding) => ({ ...finding, good: isGood(finding) })) },
    exitCode: wrong === 0 ? 0 : 1,
  };
}

const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

const isGood = ({ level }: ExaminationFinding): boolean => level !== 'wrong';

const labels: Readonly<Record<FindingLevel, string>> = {
  well: 'ok   ',
  notice: 'note ',
  wrong: 'WRONG',
  'not looked at': '?    ',
};

function line({ what: subject, level, says, mend }: DoctorFinding, { red, bold }: Style): string {
  const label = level === 'wrong' ? red(labels[level]) : labels[level];
  return `${label} ${bold(subject)}: ${visible(says)}${mend === undefined ? '' : `\n      ${visible(mend)}`}`;
}

function sum(findings: readonly DoctorFinding[]): string {
  const count = (level: FindingLevel): number => findings.filter((finding) => finding.level === level).length;
  const [wrong, notices] = [count('wrong'), count('notice')];
  if (wrong > 0) return `${String(wrong)} of ${String(findings.length)} need attention.`;
  return notices === 0 ? 'All is well.' : `All is well; ${String(notices)} to know of.`;
}
