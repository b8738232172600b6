// Checks a snap by the rules that decide whether a device installs it (snapd's snap/validate.go, as of August 2026).
// Without these checks, a snap could be released that no device can install.
import { quoted } from '../unacceptable.ts';
import { checkApps } from './apps.ts';
import type { Faults } from './fields.ts';
import { checkGpioSlots } from './gpio.ts';
import { checkLayouts } from './layouts.ts';
import { licenseProblem } from './license.ts';
import { checkLinks } from './links.ts';
import type { Connector, SnapModel } from './model.ts';
import { componentHooks, isAppName, isHookSupported, isPlugName, isSystemUsername } from './names.ts';

const file = 'meta/snap.yaml';
const maxTitle = 40;
export const maxSummary = 128;
export const maxDescription = 4096;

/** Adds the faults that make a device refuse the snap; `hookFiles` are the names of the files in meta/hooks. */
export function checkRules(snap: SnapModel, hookFiles: readonly string[], faults: Faults): void {
  checkTexts(snap, faults);
  checkApps(snap, faults);
  checkHooks(snap, hookFiles, faults);
  checkConnectors(snap, faults);
  checkBase(snap, hookFiles, faults);
  for (const name of snap.systemUsernames) {
    if (!isSystemUsername(name)) faults.add(`The system username ${quoted(name)} in ${file} is not possible.`);
  }
  checkLinks(snap.links, faults);
  checkLayouts(snap, faults);
  checkComponents(snap, faults);
}

export const isLonger = (text: string, max: number): boolean => text.length > max && Array.from(text).length > max;

/** Adds the faults that make a device refuse the provenance in a snap.yaml or component.yaml; empty means the default. */
export function checkProvenance(provenance: string, file: string, faults: Faults): void {
  if (provenance === 'global-upload')
    faults.add(`'provenance' in ${file} is 'global-upload', which a device takes only if none is named: remove it.`);
  else if (provenance !== '' && !isAppName(provenance))
    faults.add(
      `The provenance ${quoted(provenance)} in ${file} is not possible: use letters and digits, with single - between them.`,
    );
}

function checkTexts({ title, description, provenance, license }: SnapModel, faults: Faults): void {
  for (const [key, text, max] of [
    ['title', title, maxTitle],
    ['description', description, maxDescription],
  ] as const) {
    if (isLonger(text, max))
      faults.add(`The ${key} in ${file} has more than ${String(max)} characters, which no device takes: shorten it.`);
  }
  checkProvenance(provenance, file, faults);
  const problem = license === '' ? undefined : licenseProblem(license);
  if (problem !== undefined)
    faults.add(
      `The license ${quoted(license)} in ${file} is refused by devices: ${problem}. Write an SPDX expression, such as GPL-3.0-or-later OR MIT.`,
    );
}

/** The hooks that a device knows: those in snap.yaml, and the files in meta/hooks. */
function hooksOf({ hooks }: SnapModel, hookFiles: readonly string[]): Set<string> {
  return new Set([...hooks.keys(), ...hookFiles].filter(isHookSupported));
}

const commandChain = /^[A-Za-z0-9/._#:$-]*$/;

function checkHooks(snap: SnapModel, hookFiles: readonly string[], faults: Faults): void {
  const names = hooksOf(snap, hookFiles);
  for (const name of names) {
    if (!isPlugName(name)) faults.add(`The hook name ${quoted(name)} is not possible.`);
    const chain = snap.hooks.get(name)?.commandChain ?? [];
    if (!chain.every((link) => commandChain.test(link)))
      faults.add(
        `'command-chain' of the hook ${quoted(name)} in ${file} has a character that a device refuses: use letters, digits and /._#:$-.`,
      );
  }
  const isSystem = ['snapd', 'base', 'os'].includes(snap.type);
  if (names.has('default-configure')) {
    if (isSystem) faults.add(`A snap of type ${snap.type} cannot have a hook 'default-configure': remove it.`);
    else if (!names.has('configure')) faults.add("A hook 'default-configure' needs a hook 'configure': add it.");
  }
  if (names.has('configure') && isSystem && snap.type !== 'os')
    faults.add(`A snap of type ${snap.type} cannot have a hook 'configure': remove it.`);
}

/** All plugs or slots: those of the snap, and those in an app or a hook alone. */
export function connectorsOf(snap: SnapModel, key: 'plugs' | 'slots'): Map<string, Connector> {
  const all = new Map(snap[key]);
  const hooks = [...snap.hooks].filter(([name]) => isHookSupported(name)).map(([, hook]) => hook);
  const parts = [...snap.apps.values(), ...hooks, ...componentHooksOf(snap)];
  for (const name of parts.flatMap((part) => part[key]))
    if (!all.has(name)) all.set(name, { interfaceName: name, attributes: new Map() });
  return all;
}

const componentHooksOf = ({ components }: SnapModel) =>
  [...components.values()].flatMap(({ hooks }) => [...hooks.values()]);

function checkConnectors(snap: SnapModel, faults: Faults): void {
  const [plugs, slots] = [connectorsOf(snap, 'plugs'), connectorsOf(snap, 'slots')];
  for (const [word, connectors] of [
    ['plug', plugs],
    ['slot', slots],
  ] as const) {
    for (const [name, { interfaceName }] of connectors) {
      const wrong = [name, interfaceName].find((text) => !isPlugName(text));
      if (wrong !== undefined)
        faults.add(
          `${quoted(wrong)} is no name of a ${word} or an interface: use lower-case letters and digits, with single - between them, beginning with a letter.`,
        );
    }
  }
  if (snap.type === 'gadget') checkGpioSlots(slots, faults);
  for (const name of plugs.keys())
    if (slots.has(name))
      faults.add(`${quoted(name)} is the name of a plug and of a slot in ${file}: rename one of them.`);
}

function checkBase(snap: SnapModel, hookFiles: readonly string[], faults: Faults): void {
  const { base, type, apps } = snap;
  if (base !== '' && base !== 'none') {
    if (type === 'os' || type === 'base')
      faults.add(`A snap of type ${type} cannot have a base: remove 'base' from ${file}.`);
  }
  if (base === 'none' && (apps.size > 0 || hooksOf(snap, hookFiles).size > 0))
    faults.add(`A snap with the base 'none' cannot have apps or hooks: name a base in ${file}, such as core24.`);
}

function checkComponents({ components, type: snapType }: SnapModel, faults: Faults): void {
  for (const [name, { type, summary, description, hooks }] of components) {
    const subject = `The component ${quoted(name)} in ${file}`;
    if (type === 'kernel-modules' && snapType !== 'kernel')
      faults.add(`${subject} has the type kernel-modules, which only a snap of type kernel can have.`);
    if (isLonger(summary, maxSummary))
      faults.add(`${subject} has a summary of more than ${String(maxSummary)} characters: shorten it.`);
    if (isLonger(description, maxDescription))
      faults.add(`${subject} has a description of more than ${String(maxDescription)} characters: shorten it.`);
    for (const [hook, { slots, commandChain: chain }] of hooks) {
      if (!componentHooks.includes(hook)) faults.add(`${subject} has a hook ${quoted(hook)}, which no device knows.`);
      if (slots.length > 0) faults.add(`${subject} has a hook with slots, which a device does not allow.`);
      if (!chain.every((link) => commandChain.test(link)))
        faults.add(`${subject} has a hook with an impossible 'command-chain'.`);
    }
  }
}
