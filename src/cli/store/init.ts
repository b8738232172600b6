// larder init
import { existsSync, readdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { emailAddress, usernameProblem } from '#domain/accounts/account.ts';
import { shellWord } from '#domain/shell-word.ts';
import { administratorDigest, newAdministratorCredential } from '#macaroons/administrator-credential.ts';
import { administratorId } from '#acts/store/appliance.ts';
import { fingerprintOf } from '#macaroons/site-key.ts';
import { documentsAt } from '#operations/store/documents.ts';
import { siteProblems, siteTls, type SiteFiles } from '#tls/site.ts';
import { diskSpace } from '#data/blobs.ts';
import type { ApproverHandout } from '#data/first-approvers.ts';
import { DataDirectoryInUse, lockDirectory } from '#data/lock.ts';
import { recordsPlace } from '#data/records-place.ts';
import { describeDatabase, type DatabasePlace } from '#engine/place.ts';
import {
  isOfUnfinishedStore,
  makeStore,
  refuseExistingStore,
  StoreExistsError,
  unfinished,
  type NewStoreResult,
} from '#data/new-store.ts';
import { tlsSettings, type ServerTls } from '#tls/settings.ts';
import {
  ConfigError,
  initialConfig,
  parseConfig,
  readConfig,
  type Config,
  type FirstSettings,
} from '#configuration/config.ts';
import { isBaseUrl } from '#configuration/check.ts';
import { makeFolder, targetOfTemporary } from '#files/durable.ts';
import { findReserveFault } from '#data/disk-size.ts';
import { describeFault, textOf } from '#platform/faults.ts';
import { command, dataInUse, Failure, UsageError, type CommandResult, type World } from '../frame/command.ts';
import { becomeOwner, howToServe } from '../frame/owner.ts';
import { canAsk, converse } from '../frame/questions.ts';
import { actorOf, reportWaiting } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';

export const init = command({
  name: 'init',
  summary: 'Make a new store in a data directory.',
  description:
    'Makes the directory, the keys, the database, an account for the store administrator with a credential, and ' +
    'a configuration for a site without internet. The directory must be empty or not exist. After an interrupted ' +
    'init, run it again. At a terminal and without options the command asks for the address and the e-mail ' +
    'address. For an https address the store makes a certificate with an authority of its own, or uses the files ' +
    'named here, which stay where they are. Approvals of the approvers named here count from the first day; ' +
    'approvals of any other account count 72 hours after it was created.',
  options: {
    'base-url': {
      type: 'string',
      value: 'URL',
      summary: 'The address that clients use. Default: http://127.0.0.1:8080.',
    },
    listen: {
      type: 'string',
      value: 'HOST:PORT',
      summary:
        'Where the server listens. Default: 127.0.0.1, or every address for https, with the port of the base URL.',
    },
    'admin-email': {
      type: 'string',
      value: 'EMAIL',
      summary: 'The e-mail address of the store administrator. Default: admin@larder.invalid.',
    },
    'tls-certificate': {
      type: 'string',
      value: 'FILE',
      summary: "The site's own certificate followed by the certificates of its issuers, PEM.",
    },
    'tls-key': { type: 'string', value: 'FILE', summary: 'The key of that certificate, PEM without a passphrase.' },
    'tls-ca': {
      type: 'string',
      value: 'FILE',
      summary: 'The authority of that certificate, PEM, for clients to fetch at /ca.pem.',
    },
    approver: {
      type: 'string',
      value: 'NAME',
      repeated: true,
      summary: 'Create an approver with this user name. Give the option twice or more.',
    },
    postgres: {
      type: 'string',
      value: 'ADDRESS',
      summary: 'An empty database of a PostgreSQL server for the records, without a password. Default: a file.',
    },
    'postgres-password-file': {
      type: 'string',
      value: 'FILE',
      summary: 'The file with the password for it, which stays where it is.',
    },
  },
  examples: [
    'larder init',
    'larder init --data ./data --base-url http://127.0.0.1:8080 --admin-email ada@example.org',
    'larder init --base-url https://store.example.internal --json',
    'larder init --base-url https://store.example.internal --tls-certificate ./server.pem --tls-key ./server.key --tls-ca ./ca.pem',
    'larder init --approver bob --approver carol',
    'larder init --postgres postgres://larder@db.internal:5432/larder --postgres-password-file /etc/larder/postgres-password',
  ],

  async run({ options: { approver: approvers, ...typedOptions }, data, world }) {
    refuseApprovers(approvers);
    const files = givenFiles(typedOptions);
    refuseStore(data);
    const asks =
      canAsk(world) && approvers.length === 0 && Object.values(typedOptions).every((value) => value === undefined);
    const options = asks ? { ...typedOptions, ...(await askFor(world)) } : typedOptions;
    const credential = newAdministratorCredential();
    const baseUrl = options['base-url'] ?? 'http://127.0.0.1:8080';
    const listen = options.listen ?? usualListen(baseUrl);
    const configuration = configurationText({
      baseUrl,
      listen,
      storeAdminId: administratorId,
      storeAdminDigest: administratorDigest(credential),
      siteFiles: files,
      records: givenServer(options),
    });
    const email = emailAddress(options['admin-email'] ?? 'admin@larder.invalid');
    if (email === undefined)
      throw new UsageError(`--admin-email is an e-mail address, not '${options['admin-email']!}'`);

    const actor = actorOf(world);
    const config = parseConfig('larder.toml', configuration);
    if (files) refuseFiles(files, config);
    const credentials = world.env['CREDENTIALS_DIRECTORY'];
    refuseDirectory(data);
    await refuseServer(data, recordsPlace(data, config, credentials, reportWaiting(world)));
    makeDirectory(data);
    const lock = lockOf(data);
    let made: NewStoreResult;
    try {
      // Check again: another init may have been faster, and the owner of the directory must be able to read the files.
      refuseContents(data);
      if (files) refuseFiles(files, config);
      made = await makeStore(data, { configuration, email, credential, approvers, actor: { actor }, credentials });
    } catch (error) {
      throw error instanceof StoreExistsError ? new Failure(error.message, { code: 'store-exists' }) : error;
    } finally {
      lock.close();
    }
    return answered(data, made, { baseUrl, listen, files });
  },
});

/** The default listen address: loopback for plain HTTP, all interfaces for HTTPS. */
function usualListen(baseUrl: string): string {
  const { protocol = '', hostname = '', port = '' } = URL.parse(baseUrl) ?? {};
  const isSixth = hostname.startsWith('[');
  if (protocol === 'https:') return `${isSixth ? '[::]' : '0.0.0.0'}:${port || '443'}`;
  const isLoopback = hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  return `${isLoopback ? hostname : '127.0.0.1'}:${port || '8080'}`;
}

/** Reports the new store: location, administrator, and the files to keep safe. */
function answered(
  data: string,
  { siteKey, tls, approvers }: NewStoreResult,
  { baseUrl, listen, files }: { baseUrl: string; listen: string; files: SiteFiles | undefined },
): CommandResult {
  const config = readConfig(join(data, 'larder.toml'));
  const place = recordsPlace(data, config, undefined);
  const documents = documentsAt(config) ?? baseUrl;
  const warning = findReserveFault(diskSpace(data).diskSizeBytes, config.uploads.reserve);
  const credentialFile = join(data, 'admin.macaroon');
  const fingerprint = fingerprintOf(siteKey);
  return {
    text:
      `The store in ${data} is made; ${howToServe(data)} serves it at ${baseUrl}, on ${listen}.\n` +
      ('file' in place ? '' : `Its records are in ${describeDatabase(place)}.\n`) +
      `Instructions for administrators, publishers and devices: ${documents}\n` +
      `The store administrator is the account ${administratorId}; the credential for it is in ${credentialFile}.\n` +
      `To log in to ${baseUrl}/console as admin: 'larder account password ${administratorId}${dataOption(data)}' gives the account a password.\n` +
      trust(tls, baseUrl, files) +
      approversText(approvers) +
      (warning === undefined ? '' : `${textOf(describeFault('reserve-too-large', warning))}\n`) +
      `Keep copies of site.key and master.key in a safe place: a backup holds neither, and nothing can replace them.\n` +
      `The fingerprint of site.key, to identify its copies: ${fingerprint}`,
    json: {
      data,
      config: join(data, 'larder.toml'),
      ...(!('file' in place) && { records: describeDatabase(place) }),
      'base-url': baseUrl,
      documents,
      listen,
      'admin-account-id': administratorId,
      'admin-macaroon-file': credentialFile,
      'site-key-fingerprint': fingerprint,
      ...(approvers.length > 0 && { approvers: approvers.map(presentApprover) }),
      ...(warning !== undefined && { warning }),
      ...(tls && {
        ...(tls.authority !== undefined && { 'ca-file': files?.authorityFile ?? join(data, 'tls', 'ca.pem') }),
        fingerprint: tls.fingerprint,
        hosts: tls.hosts,
      }),
    },
  };
}

/** Refuses approvers that a store cannot be created with. */
function refuseApprovers(usernames: readonly string[]): void {
  if (usernames.length === 1)
    throw new UsageError('--approver must be given twice or more: a single approver cannot approve anything');
  for (const [index, username] of usernames.entries()) {
    const problem = usernameProblem(username);
    if (problem !== undefined) throw new UsageError(`--approver: ${problem}`);
    if (username === 'admin' || usernames.indexOf(username) !== index) {
      throw new UsageError(`--approver: the user name '${username}' is taken`);
    }
  }
}

const presentApprover = ({ id, username, link, until, secret, address, recoveryCodes }: ApproverHandout) => ({
  id,
  username,
  link,
  'expires-at': until,
  secret,
  address,
  'recovery-codes': recoveryCodes,
});

/** The text to hand to each approver. */
function approversText(approvers: readonly ApproverHandout[]): string {
  if (approvers.length === 0) return '';
  const parts = approvers.map(
    ({ id, username, link, until, secret, address, recoveryCodes }) =>
      `\n${username} (account ${id})\n` +
      `  Link to choose a password, valid once and until ${until}: ${link}\n` +
      `  Authenticator: ${secret}\n  Address: ${address}\n` +
      `  Recovery codes: ${recoveryCodes.join(' ')}\n`,
  );
  return (
    `\nThe approvals of these accounts count from the first day. Hand each person their part alone; it is shown this once.\n` +
    `After any later change of such an account its approvals do not count for 72 hours.\n${parts.join('')}\n`
  );
}

/** The `--data` option for commands, if the store is not in the default directory. */
const dataOption = (data: string): string => (data === '/var/lib/larder' ? '' : ` --data ${shellWord(data)}`);

/** Asks for the values without a default: the address that clients use, and the administrator's e-mail address. */
async function askFor(world: World): Promise<{ 'base-url': string; 'admin-email': string }> {
  const port = process.getuid?.() === 0 ? '' : ':8443';
  const host = hostname().toLowerCase();
  const proposal = `https://${isBaseUrl(`https://${host}`) ? host : 'localhost'}${port}`;
  return converse(world, async ({ ask, say }) => {
    const until = async (question: string, proposed: string, problem: (answer: string) => string | undefined) => {
      for (;;) {
        const answer = await ask(question, proposed);
        const wrong = problem(answer);
        if (wrong === undefined) return answer;
        say(visible(wrong));
      }
    };
    const baseUrl = await until('The address that clients will use', proposal, (answer) =>
      /^https?:/.test(answer) && isBaseUrl(answer)
        ? undefined
        : `'${answer}' is not http or https, a host and perhaps a port, such as ${proposal}.`,
    );
    const email = await until("The store administrator's e-mail address", 'admin@larder.invalid', (answer) =>
      emailAddress(answer) === undefined ? `'${answer}' is not an e-mail address.` : undefined,
    );
    return { 'base-url': baseUrl, 'admin-email': email };
  });
}

/** The certificate files of the site that the options name. */
function givenFiles(options: Readonly<Record<string, string | undefined>>): SiteFiles | undefined {
  const [certificateFile, keyFile, authorityFile] = ['tls-certificate', 'tls-key', 'tls-ca'].map((name) =>
    options[name] === undefined ? undefined : resolve(options[name]),
  );
  if (certificateFile !== undefined && keyFile !== undefined) {
    if (!options['base-url']?.startsWith('https:'))
      throw new UsageError('--tls-certificate needs --base-url with the https address that clients use');
    return { certificateFile, keyFile, authorityFile };
  }
  if (certificateFile ?? keyFile ?? authorityFile)
    throw new UsageError('--tls-certificate and --tls-key belong together, and --tls-ca to them');
  return undefined;
}

/** Refuses a certificate of the site that clients would refuse. */
function refuseFiles(files: SiteFiles, config: Config): void {
  let problems: string[];
  try {
    siteTls(files);
    problems = siteProblems(files, tlsSettings(config).hosts, () => new Date());
  } catch (error) {
    throw new Failure((error as Error).message, { code: 'bad-certificate', cause: error });
  }
  if (problems.length > 0)
    throw new Failure(`cannot use ${files.certificateFile}: ${problems.join('; ')}`, { code: 'bad-certificate' });
}

/** Tells publishers and devices how to trust the store's certificate. */
function trust(tls: ServerTls | undefined, baseUrl: string, files: SiteFiles | undefined): string {
  if (tls === undefined) return '';
  const ends = tls.ends.toISOString().slice(0, 10);
  if (files !== undefined) {
    return (
      `The site's certificate is good for ${tls.hosts.join(', ')} until ${ends}; its files stay where they are. After a renewal send the server SIGHUP.\n` +
      `Its SHA-256 fingerprint, or that of the authority where one was named:\n  ${tls.fingerprint}\n`
    );
  }
  return (
    `Its server certificate is good for ${tls.hosts.join(', ')} until ${ends} and is renewed by itself.\n` +
    `Publishers and devices trust ${baseUrl}/ca.pem, the authority of this store. Its SHA-256 fingerprint, to be compared:\n` +
    `  ${tls.fingerprint}\n` +
    `Publishers: REQUESTS_CA_BUNDLE=ca.pem; devices: snap set system store-certs.larder="$(cat ca.pem)".\n`
  );
}

/** The PostgreSQL server that the options name. */
function givenServer({ postgres, 'postgres-password-file': file }: Record<string, string | undefined>) {
  if (postgres !== undefined) return { postgres, passwordFile: file === undefined ? undefined : resolve(file) };
  if (file !== undefined)
    throw new UsageError('--postgres-password-file is the password for --postgres: name that too');
  return undefined;
}

/** Refuses a database server that already has a store, before anything is created. */
async function refuseServer(data: string, place: DatabasePlace): Promise<void> {
  if ('file' in place) return;
  try {
    await refuseExistingStore(data, place);
  } catch (error) {
    throw error instanceof StoreExistsError ? new Failure(error.message, { code: 'store-exists' }) : error;
  }
}

function configurationText(settings: FirstSettings): string {
  try {
    return initialConfig(settings);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problemText = error.problems.map(({ message }) => message).join('; ');
    throw new UsageError(
      problemText
        .replace('http.base_url:', '--base-url:')
        .replace('http.listen:', '--listen:')
        .replace('records.postgres:', '--postgres:'),
    );
  }
}

/** Refuses a directory that is not empty; makes this process run as its owner. */
function refuseDirectory(data: string): void {
  const stats = statSync(data, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isDirectory()) throw new Failure(`${data} is not a directory`);
  becomeOwner(data);
  refuseContents(data);
}

/** Creates the directory if it does not exist. */
function makeDirectory(data: string): void {
  try {
    makeFolder(data);
  } catch (cause) {
    throw new Error(`cannot make the directory ${data}`, { cause });
  }
}

/** Refuses an existing store before the first question. */
function refuseStore(data: string): void {
  if (!existsSync(join(data, 'larder.toml'))) return;
  throw new Failure(`there is a store in ${data} already; 'larder serve --data ${shellWord(data)}' serves it`, {
    code: 'store-exists',
  });
}

function refuseContents(data: string): void {
  refuseStore(data);
  const names = readdirSync(data);
  const isUnfinished = names.includes(unfinished);
  const isAllowed = (name: string): boolean =>
    ['store.lock', 'store.lock-journal', 'lost+found'].includes(name) ||
    targetOfTemporary(name) === unfinished ||
    (isUnfinished && isOfUnfinishedStore(name));
  const strange = names.filter((name) => !isAllowed(name)).sort();
  if (strange.length === 0) return;
  if (strange.includes('larder.db') || strange.includes('site.key')) {
    throw new Failure(
      `${data} holds parts of a store but no larder.toml; restore that file, and do not make a new store there`,
      {
        code: 'store-damaged',
      },
    );
  }
  const shown = strange.length > 3 ? `${strange.slice(0, 3).join(', ')}, …` : strange.join(', ');
  throw new Failure(`${data} is not empty (${shown}); a store needs a directory of its own`, {
    code: 'directory-not-empty',
  });
}

function lockOf(data: string): { close(): unknown } {
  try {
    return lockDirectory(data);
  } catch (error) {
    throw error instanceof DataDirectoryInUse ? dataInUse(data) : error;
  }
}
