// The commands of larder, and how one is run.
import { Refusal } from '#domain/refusal.ts';
import { ConfigError } from '#src/configuration/config-error.ts';
import { nearest } from '#src/configuration/nearest.ts';
import { causes, inOneSentence } from '#src/system-errors.ts';
import { readArguments } from './frame/arguments.ts';
import { commonOptions, Failure, UsageError, type Call, type Command, type World } from './frame/command.ts';
import { canAsk, confirmed, needsYes } from './frame/questions.ts';
import { style, visible } from './frame/terminal.ts';
import { shortHelp } from './frame/usage.ts';

/** A command's name, and its record when that is wanted: a command loads only what it needs itself. */
export interface Entry {
  readonly name: string;
  readonly load: () => Promise<Command>;
}

export interface Group {
  readonly title: string;
  readonly commands: readonly Entry[];
}

export const groups: readonly Group[] = [
  {
    title: 'The store',
    commands: [
      { name: 'init', load: async () => (await import('./store/init.ts')).init },
      { name: 'serve', load: async () => (await import('./store/serve.ts')).serve },
      { name: 'admin-macaroon', load: async () => (await import('./store/admin-macaroon.ts')).adminMacaroon },
      { name: 'key rotate', load: async () => (await import('./key/rotate.ts')).keyRotate },
      { name: 'registry settings', load: async () => (await import('./registry/registry.ts')).registrySettings },
      { name: 'registry certificate', load: async () => (await import('./registry/registry.ts')).registryCertificate },
      { name: 'clock accept', load: async () => (await import('./store/clock-accept.ts')).clockAccept },
    ],
  },
  {
    title: 'Publishers and packages',
    commands: [
      { name: 'account create', load: async () => (await import('./account/create.ts')).accountCreate },
      { name: 'account list', load: async () => (await import('./account/list.ts')).accountList },
      { name: 'account password', load: async () => (await import('./account/password.ts')).accountPassword },
      { name: 'account totp', load: async () => (await import('./account/totp.ts')).accountTotp },
      { name: 'account invite', load: async () => (await import('./account/invite.ts')).accountInvite },
      { name: 'account disable', load: async () => (await import('./account/disable.ts')).accountDisable },
      { name: 'account enable', load: async () => (await import('./account/disable.ts')).accountEnable },
      { name: 'account role', load: async () => (await import('./account/role.ts')).accountRole },
      { name: 'package list', load: async () => (await import('./package/list.ts')).packageList },
      { name: 'package show', load: async () => (await import('./package/show.ts')).packageShow },
      { name: 'package register', load: async () => (await import('./package/register.ts')).packageRegister },
      { name: 'package set-id', load: async () => (await import('./package/set-id.ts')).packageSetId },
      {
        name: 'package manual-review',
        load: async () => (await import('./package/manual-review.ts')).packageManualReview,
      },
      { name: 'review list', load: async () => (await import('./review/list.ts')).reviewList },
      { name: 'review approve', load: async () => (await import('./review/approve.ts')).reviewApprove },
      { name: 'review reject', load: async () => (await import('./review/reject.ts')).reviewReject },
      { name: 'release', load: async () => (await import('./release/release.ts')).release },
      { name: 'close', load: async () => (await import('./release/release.ts')).close },
      { name: 'release history', load: async () => (await import('./release/history.ts')).releaseHistory },
      { name: 'guardrail add', load: async () => (await import('./guardrail/add.ts')).guardrailAdd },
      { name: 'guardrail list', load: async () => (await import('./guardrail/list.ts')).guardrailList },
      { name: 'guardrail remove', load: async () => (await import('./guardrail/remove.ts')).guardrailRemove },
      { name: 'token issue', load: async () => (await import('./token/issue.ts')).tokenIssue },
      { name: 'token list', load: async () => (await import('./token/list.ts')).tokenList },
      { name: 'token revoke', load: async () => (await import('./token/revoke.ts')).tokenRevoke },
      { name: 'agent register', load: async () => (await import('./agent/agents.ts')).agentRegister },
      { name: 'agent list', load: async () => (await import('./agent/agents.ts')).agentList },
      { name: 'agent remove', load: async () => (await import('./agent/agents.ts')).agentRemove },
      { name: 'permissions', load: async () => (await import('./account/permissions.ts')).permissions },
      { name: 'brand list', load: async () => (await import('./brand/list.ts')).brandList },
      { name: 'brand create', load: async () => (await import('./brand/create.ts')).brandCreate },
    ],
  },
  {
    title: 'Signing keys and assertions',
    commands: [
      { name: 'key create', load: async () => (await import('./key/create.ts')).keyCreate },
      { name: 'key list', load: async () => (await import('./key/list.ts')).keyList },
      { name: 'key show', load: async () => (await import('./key/show.ts')).keyShow },
      { name: 'key request', load: async () => (await import('./key/request.ts')).keyRequest },
      { name: 'key delete', load: async () => (await import('./key/delete.ts')).keyDelete },
      { name: 'key seal', load: async () => (await import('./key/seal.ts')).keySeal },
      { name: 'assertion import', load: async () => (await import('./assertion/import.ts')).assertionImport },
      { name: 'assertion sign', load: async () => (await import('./assertion/sign.ts')).assertionSign },
      { name: 'assertion export', load: async () => (await import('./assertion/export.ts')).assertionExport },
    ],
  },
  {
    title: 'Looking after the store',
    commands: [
      { name: 'storage', load: async () => (await import('./store/storage.ts')).storage },
      { name: 'status', load: async () => (await import('./store/status.ts')).status },
      { name: 'doctor', load: async () => (await import('./store/doctor.ts')).doctor },
      { name: 'log-level', load: async () => (await import('./store/log-level.ts')).logLevel },
      { name: 'backup', load: async () => (await import('./backup/backup.ts')).backup },
      { name: 'restore', load: async () => (await import('./backup/restore.ts')).restore },
      { name: 'go-back', load: async () => (await import('./backup/go-back.ts')).goBack },
      { name: 'verify', load: async () => (await import('./store/verify.ts')).verify },
      { name: 'audit list', load: async () => (await import('./audit/list.ts')).auditList },
      { name: 'audit export', load: async () => (await import('./audit/export.ts')).auditExport },
      { name: 'audit verify', load: async () => (await import('./audit/verify.ts')).auditVerify },
      { name: 'audit accept', load: async () => (await import('./audit/accept.ts')).auditAccept },
    ],
  },
  {
    title: 'About larder',
    commands: [
      { name: 'help', load: async () => (await import('./about/help.ts')).help(groups) },
      { name: 'completion', load: async () => (await import('./about/completion.ts')).completion(groups) },
      { name: 'version', load: async () => (await import('./about/version.ts')).version },
    ],
  },
];

/** Runs a command line; its exit code, of those in `usage.ts`. */
export async function run(argv: readonly string[], world: World, from: readonly Group[] = groups): Promise<number> {
  const entries = from.flatMap(({ commands }) => commands);
  const json = has(argv, '--json');
  let command: Command | undefined;
  let call: Call | undefined;
  try {
    const { name, args } = readName(
      argv,
      entries.map(({ name }) => name),
    );
    command = await entries.find((entry) => entry.name === name)?.load();
    if (!command) throw new Error(`cannot find the command '${name}'`);
    call = readArguments(command, args, world);
    await askFirst(command, call);
    const answer = await command.run(call);
    if (json) world.stdout.write(`${JSON.stringify(answer.json)}\n`);
    else if (answer.text !== '' && !call.quiet) world.stdout.write(`${answer.text}\n`);
    return answer.exitCode ?? 0;
  } catch (error) {
    if (error instanceof NoCommand && !json) {
      world.stderr.write(await (await import('./about/help.ts')).listOf(from, world));
      return error.exitCode;
    }
    return report(error, { command, json, data: call?.data }, world);
  }
}

/** Nothing was asked for: a person is shown what there is. */
class NoCommand extends UsageError {
  constructor() {
    super('a command is needed');
  }
}

/** Asks, where the command's record says so, before anything is done. */
async function askFirst({ name, confirm }: Command, call: Call): Promise<void> {
  const question = confirm?.question(call);
  if (confirm === undefined || question === undefined || call.options['yes'] === true) return;
  if (canAsk(call.world)) return confirmed(call.world, question);
  if (confirm.unattended === 'refused') throw needsYes(name, question);
}

/** Whether one of these stands among the arguments, before a `--`. */
const has = (args: readonly string[], ...options: string[]) =>
  args.slice(0, args.includes('--') ? args.indexOf('--') : args.length).some((arg) => options.includes(arg));

/** Which command is meant, and its arguments; `--help` anywhere means `larder help` for what stands before it. */
function readName(argv: readonly string[], names: readonly string[]): { name: string; args: readonly string[] } {
  const [before, words] = afterCommonOptions(argv);
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((candidate) => names.includes(candidate));
  const length = name?.split(' ').length ?? 0;
  if (has(argv, '--help', '-h')) {
    const option = words.findIndex((word) => word.startsWith('-'));
    const typed = option === -1 ? words : words.slice(0, option);
    const asked = name === 'help' && typed.length > 1 ? typed.slice(1) : typed.slice(0, length || 2);
    return { name: 'help', args: [...asked, ...(has(argv, '--json') ? ['--json'] : [])] };
  }
  if (name !== undefined) return { name, args: [...before, ...words.slice(length)] };
  throw words[0] === undefined ? new NoCommand() : new UsageError(unknownCommand(words, names));
}

/** Splits the options of every command, which may stand before its name, from the rest. */
function afterCommonOptions(argv: readonly string[]): [readonly string[], readonly string[]] {
  let length = 0;
  for (let arg = argv[0]; arg?.startsWith('-'); arg = argv[length]) {
    const written = arg.replace(/=.*$/s, '');
    const option = written.replace(/^-+/, '');
    if (written === '--version') return [[], ['version', ...argv.slice(length + 1)]];
    if (written !== '-h' && !(written.startsWith('--') && Object.hasOwn(commonOptions, option))) {
      const meant = nearest(option, Object.keys(commonOptions));
      const hint =
        meant === undefined ? '; the options of a command stand behind its name' : `; did you mean '--${meant}'?`;
      throw new UsageError(`unknown option '${written}' before the command${hint}`);
    }
    length += arg === '--data' ? 2 : 1;
  }
  return [argv.slice(0, length), argv.slice(length)];
}

function unknownCommand(words: readonly string[], names: readonly string[]): string {
  const [first = '', second] = words;
  const typed = second === undefined || second.startsWith('-') ? first : `${first} ${second}`;
  const said = `there is no command '${typed}'`;
  const below = names.filter((name) => name.startsWith(`${first} `)).map((name) => name.slice(first.length + 1));
  if (below.length > 0) {
    if (typed === first) return `'${first}' needs another word: ${below.join(', ')}`;
    const meant = nearest(typed.slice(first.length + 1), below);
    return meant === undefined ? `${said}; there is ${below.join(', ')}` : `${said}; did you mean '${first} ${meant}'?`;
  }
  const meant = nearest(typed, names) ?? nearest(first, [...names, ...names.map((name) => name.split(' ')[0]!)]);
  return meant === undefined ? said : `${said}; did you mean '${meant}'?`;
}

/** Says on the standard error why a command was not done; the exit code. */
function report(
  error: unknown,
  { command, json, data }: { command: Command | undefined; json: boolean; data: string | undefined },
  { stderr, env }: World,
): number {
  const { message, code, exitCode } = told(error, data);
  const stack = env['LARDER_DEBUG'] === '1' ? stacks(error) : undefined;
  if (json) {
    stderr.write(`${JSON.stringify({ error: message, code, stack })}\n`);
    return exitCode;
  }
  const { red } = style(stderr, env);
  stderr.write(`${red('larder:')} ${visible(message)}\n`);
  if (error instanceof UsageError)
    stderr.write(command ? `\n${shortHelp(command)}` : `'larder help' lists the commands.\n`);
  if (stack !== undefined) stderr.write(`\n${stack}\n`);
  return exitCode;
}

function told(error: unknown, data: string | undefined): { message: string; code: string; exitCode: number } {
  if (error instanceof Failure) return error;
  if (error instanceof Refusal) return { message: error.message, code: error.code, exitCode: 1 };
  if (error instanceof ConfigError) return { message: error.message, code: 'configuration', exitCode: 1 };
  return { message: inOneSentence(error, { data }), code: 'failed', exitCode: 1 };
}

const stacks = (error: unknown) =>
  causes(error)
    .map((cause) => (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)))
    .join('\ncaused by ');
