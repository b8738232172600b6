// The places that show how a store is. Each is asked about a fault, and all must say it in the same words.
import type t from 'tap';

import { faultKinds, type Fault, type FaultCode } from '#platform/faults.ts';
import type { Ended } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import type { ConsoleStore } from '#test/console/world.ts';
import { until } from '#test/fixtures/until.ts';

export type Test = Parameters<NonNullable<Parameters<typeof t.test>[0]>>[0];

/** A store that is served, as those see it who ask how it is. */
export interface Places {
  directory: string;
  /** The body of a response, with any status. */
  ask(path: '/readyz' | '/metrics'): Promise<string>;
  /** The text of the front page of the console. */
  console(): Promise<string>;
  /** The messages of the log so far. */
  log(): string[];
}

/** The places of a store in this process, with a login to the console. */
export async function placesOf(store: ConsoleStore): Promise<Places> {
  let root = await store.visit('root');
  return {
    directory: store.directory,
    async ask(path) {
      const { body } = await store.anyone.get(path);
      return typeof body === 'string' ? body : JSON.stringify(body);
    },
    async console() {
      const page = await root.open('/console');
      if (page.html.includes('name="password"')) root = await store.visit('root');
      return (await root.open('/console')).text;
    },
    log: () => messagesIn(store.log.join('\n')),
  };
}

/** The messages in the lines of a log; a line that is no JSON is one itself. */
export const messagesIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      if (!line.startsWith('{')) return line;
      const { msg, was } = JSON.parse(line) as { msg: string; was?: string };
      return was === undefined ? msg : `${msg}: ${was}`;
    });

/** Asks every place; the fault as `larder status --json` has it. */
export async function showsEverywhere(t: Test, places: Places, code: FaultCode): Promise<Fault | undefined> {
  const { directory } = places;
  const isProblem = faultKinds[code].severity === 'problem';
  const { out } = await larder(`status --data ${directory} --json`);
  const fault = faultsIn(out).find((entry) => entry.code === code);
  if (fault === undefined) {
    t.fail(`status does not show '${code}': ${out}`);
    return undefined;
  }
  const { says, remedy, severity } = fault;
  t.equal(severity, faultKinds[code].severity);
  const ready = JSON.parse(await places.ask('/readyz')) as Record<'problems' | 'notices', string[]>;
  t.ok(ready[isProblem ? 'problems' : 'notices'].some(has(says, remedy)), '/readyz');
  t.notOk(ready[isProblem ? 'notices' : 'problems'].some(has(says)), 'with one severity');
  t.ok(has(says, remedy)((await larder(`status --data ${directory}`)).out), 'status');
  doctorShows(t, await larder(`doctor --data ${directory}`), fault);
  const text = await places.console();
  t.ok(has(says)(text), 'the console', { text });
  t.notMatch(text, /All is well\./);
  // The log of a process arrives a moment after its answer.
  await until(() => places.log().some(has(says, remedy)));
  const figures = await places.ask('/metrics');
  t.ok(figures.includes(`larder_${isProblem ? 'problems' : 'notices'}{code="${code}"} 1\n`), 'the metrics');
  return fault;
}

export function doctorShows(
  t: Test,
  doctor: Pick<Ended, 'code' | 'out'>,
  { severity, about, says, remedy }: Fault,
): void {
  t.ok(has(says, remedy)(doctor.out), 'doctor', { doctor: doctor.out });
  if (severity === 'problem') t.match(doctor, { code: 1, out: new RegExp(`WRONG ${about}: `) }, 'doctor');
  else t.match(doctor.out, new RegExp(`(?:note |WRONG) ${about}: `), 'doctor');
}

export const faultsIn = (json: string): Fault[] => (JSON.parse(json) as { faults: Fault[] }).faults;

/** The next answer of every place, once a fault was removed. */
export async function showsNowhere(
  t: Test,
  places: Places,
  code: FaultCode,
  fault: Fault | undefined,
  { isLogged = true, asksCommands = true } = {},
): Promise<void> {
  const { directory } = places;
  const says = fault?.says ?? '';
  const figures = await places.ask('/metrics');
  t.match(figures, `{code="${code}"} 0\n`, 'no longer in the metrics');
  const ready = JSON.parse(await places.ask('/readyz')) as Record<'problems' | 'notices', string[]>;
  t.notOk([...ready.problems, ...ready.notices].some(has(says)), 'nor in /readyz');
  for (const command of asksCommands ? ['status', 'doctor'] : [])
    t.notOk(has(says)((await larder(`${command} --data ${directory}`)).out), `nor in ${command}`);
  t.notOk(has(says)(await places.console()), 'nor in the console');
  // And the log records its end.
  if (isLogged) await until(() => places.log().some(has('this is well again', beginningOf(says))));
}

/** The figures of a sentence may have changed since the log heard of it. */
const beginningOf = (says: string): string => says.slice(0, 12);

/** Whether a text has these, however its lines are broken and its words are joined. */
export const has =
  (...parts: string[]) =>
  (text: string): boolean =>
    parts.every((part) => flat(text).includes(flat(part)));
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').toLowerCase();
