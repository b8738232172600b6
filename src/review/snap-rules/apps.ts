// Applies snapd's rules for apps: daemons, sockets, timers, start order, and aliases.
import { quoted } from '../unacceptable.ts';
import { isTimer } from './durations.ts';
import type { Faults } from './fields.ts';
import type { App, SnapModel, Socket } from './model.ts';
import { isAlias, isHookSupported, isSocketName } from './names.ts';
import { cleanPath } from './paths.ts';

const file = 'meta/snap.yaml';

export const isService = (app: App): boolean => app.texts.daemon !== '';
const scopeOf = (app: App): string => app.texts['daemon-scope'] || (isService(app) ? 'system' : '');

/** Adds the faults that make a device refuse the apps of a snap. */
export function checkApps(snap: SnapModel, faults: Faults): void {
  for (const [name, app] of snap.apps) {
    const fault = (problem: string) => {
      faults.add(`The app ${quoted(name)} in ${file} ${problem}`);
    };
    checkTexts(app, fault);
    checkModes(app, fault);
    checkSockets(snap, app, fault);
    checkActivation(snap, name, app, fault);
    checkOrder(snap, app, fault);
    checkServiceOnly(app, fault);
  }
  checkAliases(snap, faults);
  checkCommonIds(snap, faults);
  checkCycles(snap, faults);
}

type AppFaultReporter = (problem: string) => void;

const commandFields = ['command', 'stop-command', 'reload-command', 'post-stop-command', 'bus-name'] as const;

function checkTexts(app: App, fault: AppFaultReporter): void {
  for (const key of commandFields) {
    if (!/^[A-Za-z0-9/. _#:$-]*$/.test(app.texts[key]))
      fault(`has a character in '${key}' that a device refuses: use letters, digits, blanks and /._#:$-.`);
  }
  if (!app.commandChain.every((link) => /^[A-Za-z0-9/._#:$-]*$/.test(link)))
    fault("has a character in 'command-chain' that a device refuses: use letters, digits and /._#:$-.");
}

const words = {
  daemon: ['simple', 'forking', 'oneshot', 'dbus', 'notify'],
  'refresh-mode': ['endure', 'restart', 'ignore-running'],
  'install-mode': ['enable', 'disable'],
  'stop-mode': ['sigterm', 'sighup', 'sigusr1', 'sigusr2', 'sigint'].flatMap((signal) => [signal, `${signal}-all`]),
} as const;

function checkModes(app: App, fault: AppFaultReporter): void {
  for (const key of ['daemon', 'refresh-mode', 'install-mode', 'stop-mode'] as const) {
    const text = app.texts[key];
    const allowed: readonly string[] = words[key];
    if (text !== '' && !allowed.includes(text))
      fault(`has the unknown '${key}' ${quoted(text)}: use ${allowed.join(', ')}.`);
  }
  const mode = app.texts['refresh-mode'];
  if (isService(app) && mode === 'ignore-running')
    fault("is a service, which cannot have the 'refresh-mode' ignore-running.");
  if (!isService(app) && mode !== '' && mode !== 'ignore-running')
    fault("is no service, so its 'refresh-mode' can only be ignore-running.");
}

/** Checks the fields that only services may have. */
function checkServiceOnly(app: App, fault: AppFaultReporter): void {
  const { texts, timeouts } = app;
  const serviceKeys = (['daemon-scope', 'stop-mode', 'install-mode', 'restart-condition', 'timer'] as const).filter(
    (key) => texts[key] !== '',
  );
  const timed = Object.entries(timeouts).filter(([, duration]) => duration !== 0);
  const listed = app.successExitStatus.length > 0 ? ['success-exit-status'] : [];
  const first = [...serviceKeys, ...timed.map(([key]) => key), ...listed][0];
  if (!isService(app) && first !== undefined)
    fault(`is no service, so it cannot have '${first}': add 'daemon', or remove it.`);
  for (const [key, duration] of timed) if (duration < 0) fault(`has a negative '${key}'.`);
  if (texts.timer !== '' && !isTimer(texts.timer))
    fault(`has a timer that a device cannot read: ${quoted(texts.timer)}.`);
  if (
    !app.successExitStatus.every(
      (status) => /^[+]?\d{1,9}$/.test(status) && Number(status) >= 1 && Number(status) <= 255,
    )
  )
    fault("has a 'success-exit-status' that is no number from 1 to 255.");
}

function checkSockets(snap: SnapModel, app: App, fault: AppFaultReporter): void {
  if (app.sockets.size > 0 && snap.confinement !== 'classic' && !hasPlug(snap, app, 'network-bind'))
    fault("has sockets, so it needs the plug 'network-bind'.");
  for (const [name, socket] of app.sockets) {
    if (!isSocketName(name)) fault(`has a socket with the impossible name ${quoted(name)}.`);
    if (socket.mode > 0o777) fault(`has a socket ${quoted(name)} with the impossible mode ${socket.mode.toString(8)}.`);
    const problem = addressProblem(snap, app, socket);
    if (problem !== undefined) fault(`has a socket ${quoted(name)} whose 'listen-stream' ${problem}.`);
  }
}

/** A plug that no app and no hook lists for itself belongs to all apps. */
function hasPlug(snap: SnapModel, app: App, name: string): boolean {
  if (app.plugs.includes(name)) return true;
  const hooks = [...snap.hooks].filter(([hook]) => isHookSupported(hook)).map(([, hook]) => hook);
  const componentHooks = [...snap.components.values()].flatMap((component) => [...component.hooks.values()]);
  const scoped = [...snap.apps.values(), ...hooks, ...componentHooks].some(({ plugs }) => plugs.includes(name));
  return snap.plugs.has(name) && !scoped;
}

const socketFolders: Record<string, string[]> = {
  system: ['$SNAP_DATA/', '$SNAP_COMMON/', '$XDG_RUNTIME_DIR/'],
  user: ['$SNAP_USER_DATA/', '$SNAP_USER_COMMON/', '$XDG_RUNTIME_DIR/'],
};

function addressProblem(snap: SnapModel, app: App, { listenStream: address }: Socket): string | undefined {
  if (address === '') return 'is missing';
  if (address.startsWith('/') || address.startsWith('$')) {
    if (cleanPath(address) !== address) return `should be written as ${quoted(cleanPath(address))}`;
    const folders = socketFolders[scopeOf(app)] ?? [];
    return folders.some((folder) => address.startsWith(folder))
      ? undefined
      : `must begin with ${folders.join(' or ') || 'a folder of a service'}`;
  }
  if (address.startsWith('@')) {
    const prefix = `@snap.${snap.name}.`;
    return address.startsWith(prefix) ? undefined : `must begin with ${quoted(prefix)}`;
  }
  const colon = address.lastIndexOf(':');
  const [host, port] = [address.slice(0, Math.max(colon, 0)), address.slice(colon + 1)];
  if (colon >= 0 && !['127.0.0.1', '[::1]', '[::]'].includes(host)) return 'must name 127.0.0.1, [::1] or [::]';
  return /^\d{1,20}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535
    ? undefined
    : 'names no port from 1 to 65535';
}

function checkActivation(snap: SnapModel, name: string, app: App, fault: AppFaultReporter): void {
  if (app.activatesOn.length > 0 && !isService(app)) fault("is no service, so it cannot have 'activates-on'.");
  for (const slotName of app.activatesOn) {
    const slot = snap.slots.get(slotName);
    const bus = { system: 'system', user: 'session' }[scopeOf(app)];
    const wrong = `activates on the slot ${quoted(slotName)}, which`;
    if (slot === undefined) fault(`${wrong} the snap does not have.`);
    else if (slot.interfaceName !== 'dbus') fault(`${wrong} has another interface than dbus.`);
    else if (bus !== undefined && slot.attributes.get('bus') !== bus) fault(`${wrong} is not on the ${bus} bus.`);
    const others = [...snap.apps].filter(
      ([other, { activatesOn }]) => other !== name && activatesOn.includes(slotName),
    );
    if (others.length > 0) fault(`${wrong} activates the app ${quoted(others[0]![0])} too.`);
  }
}

function checkOrder(snap: SnapModel, app: App, fault: AppFaultReporter): void {
  const others = [...app.before, ...app.after];
  if (others.length > 0 && !isService(app)) fault("is no service, so it cannot have 'before' or 'after'.");
  for (const name of others) {
    const other = snap.apps.get(name);
    if (other === undefined) fault(`is to start before or after ${quoted(name)}, which the snap does not have.`);
    else if (!isService(other)) fault(`is to start before or after ${quoted(name)}, which is no service.`);
    else if (scopeOf(other) !== scopeOf(app))
      fault(`is to start before or after ${quoted(name)}, which has another daemon-scope.`);
  }
}

/** Services that wait for each other could never start. */
function checkCycles(snap: SnapModel, faults: Faults): void {
  const services = new Map([...snap.apps].filter(([, app]) => isService(app)));
  const followers = new Map<string, string[]>([...services.keys()].map((name) => [name, []]));
  const waits = new Map<string, number>([...services.keys()].map((name) => [name, 0]));
  const follow = (first: string, second: string): void => {
    if (!services.has(first) || !services.has(second)) return;
    followers.get(first)!.push(second);
    waits.set(second, waits.get(second)! + 1);
  };
  for (const [name, app] of services) {
    for (const other of app.after) follow(other, name);
    for (const other of app.before) follow(name, other);
  }
  const ready = [...services.keys()].filter((name) => waits.get(name) === 0);
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    services.delete(name);
    for (const follower of followers.get(name)!) {
      waits.set(follower, waits.get(follower)! - 1);
      if (waits.get(follower) === 0) ready.push(follower);
    }
  }
  const [first] = services.keys();
  if (first !== undefined)
    faults.add(
      `The app ${quoted(first)} in ${file} is to start before and after itself, through 'before' and 'after': break the circle.`,
    );
}

function checkAliases(snap: SnapModel, faults: Faults): void {
  const owners = new Map<string, string>();
  for (const [name, { aliases }] of snap.apps) {
    for (const alias of aliases) {
      if (!isAlias(alias))
        faults.add(
          `The alias ${quoted(alias)} of the app ${quoted(name)} in ${file} is not possible: use letters, digits, dashes, underscores and dots.`,
        );
      const owner = owners.get(alias);
      if (owner !== undefined)
        faults.add(
          `The alias ${quoted(alias)} in ${file} stands for ${quoted(owner)} and for ${quoted(name)}: remove one.`,
        );
      owners.set(alias, name);
    }
  }
}

function checkCommonIds(snap: SnapModel, faults: Faults): void {
  const owners = new Map<string, string>();
  for (const [name, { texts }] of snap.apps) {
    const id = texts['common-id'];
    const owner = owners.get(id);
    if (id !== '' && owner !== undefined)
      faults.add(
        `The apps ${quoted(owner)} and ${quoted(name)} in ${file} have the same common-id ${quoted(id)}: change one.`,
      );
    owners.set(id, name);
  }
}
