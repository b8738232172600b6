// Checks names inside a snap by snapd's rules (snap/naming/validate.go).
const dashed = (text: string): boolean => !text.startsWith('-') && !text.endsWith('-') && !text.includes('--');

export const isSocketName = (text: string): boolean => /^[a-z0-9-]+$/.test(text) && /[a-z]/.test(text) && dashed(text);
/** Names of plugs, slots, interfaces and hooks. */
export const isPlugName = (text: string): boolean => /^[a-z][a-z0-9-]*$/.test(text) && dashed(text);
/** Names of apps, and provenances. */
export const isAppName = (text: string): boolean => /^[a-zA-Z0-9-]+$/.test(text) && dashed(text);
export const isAlias = (text: string): boolean => /^[a-zA-Z0-9][-_.a-zA-Z0-9]*$/.test(text);
export const isLinksKey = (text: string): boolean => /^[a-zA-Z][a-zA-Z0-9-]*$/.test(text) && dashed(text);
export const isSystemUsername = (text: string): boolean =>
  /^_[-a-z0-9._]+_$/.test(text) || /^[a-z0-9][-a-z0-9._]*$/.test(text);

const hooks = [
  ...['prepare-device', 'install-device', 'prepare-serial-request', 'default-configure', 'configure', 'install'],
  ...['pre-refresh', 'post-refresh', 'remove', 'check-health', 'fde-setup', 'gate-auto-refresh'],
];
const hookPatterns = [
  /^(?:un)?prepare-(?:plug|slot)-[-a-z0-9]+$/,
  /^(?:dis)?connect-(?:plug|slot)-[-a-z0-9]+$/,
  /^(?:change|save|query|load|observe)-view-[^\n]+$/,
];
/** Whether a device runs a hook with this name; others are ignored (snap/hooktypes.go). */
export const isHookSupported = (name: string): boolean =>
  hooks.includes(name) || hookPatterns.some((pattern) => pattern.test(name));
export const componentHooks: readonly string[] = ['install', 'pre-refresh', 'post-refresh', 'remove'];
