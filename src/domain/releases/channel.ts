// Channels: track, risk and branch.
import { BoundedMap } from '../bounded-map.ts';

export const risks = ['stable', 'candidate', 'beta', 'edge'] as const;
export type Risk = (typeof risks)[number];

export interface Channel {
  track: string;
  risk: Risk;
  branch: string | null;
  /** The full name, `track/risk` or `track/risk/branch`; for the latest track it begins with `latest/`. */
  name: string;
}

const trackPattern = /^[a-zA-Z0-9](?:[_.-]?[a-zA-Z0-9])*$/;
const branchPattern = /^[a-zA-Z0-9](?:[._+-]?[a-zA-Z0-9])*$/;

export const isTrackName = (text: string): boolean => text.length <= 28 && trackPattern.test(text);

const isRisk = (text: string | undefined): text is Risk => risks.includes(text as Risk);

export const channel = (track: string, risk: Risk, branch: string | null = null): Channel => ({
  track,
  risk,
  branch,
  name: branch === null ? `${track}/${risk}` : `${track}/${risk}/${branch}`,
});

/**
 * Parses `edge`, `edge/branch`, `2.0/edge` or `2.0/edge/branch`. A track alone (`2.0`) means its stable risk. Returns
 * undefined for any other text.
 */
export function parseChannel(text: string): Channel | undefined {
  const cached = channels.get(text);
  if (cached !== undefined) return cached;
  const read = readChannel(text);
  if (read !== undefined) channels.set(text, Object.freeze(read));
  return read;
}

/**
 * A cache of the last parsed channels. A refresh by a device names thirty, nearly all the same; without it the refresh
 * takes 5 % longer.
 */
const channels = new BoundedMap<string, Channel>(1000);

function readChannel(text: string): Channel | undefined {
  const parts = text.split('/');
  const [first = '', second, third] = parts;
  if (parts.length > 3) return undefined;
  const [track, risk, branch] = isRisk(first) ? ['latest', first, second] : [first, second ?? 'stable', third];
  if (isRisk(first) && third !== undefined) return undefined;
  if (!isTrackName(track) || !isRisk(risk)) return undefined;
  if (branch !== undefined && (branch.length > 128 || !branchPattern.test(branch) || isRisk(branch))) return undefined;
  return channel(track, risk, branch ?? null);
}

/** A pattern for channels in a token. */
export interface ChannelPattern {
  /** As the client wrote it in its request for the token. */
  text: string;
  /** The full names that it covers; a part may be `*`. */
  names: readonly string[];
}

/**
 * Parses a channel restriction of a token: a channel, or a pattern with `*` in place of any of its parts, which covers
 * branches only if it has three parts. A single `*` covers every channel and branch. Returns undefined for any other
 * text.
 */
export function readChannelPattern(text: string): ChannelPattern | undefined {
  if (text === '*') return { text, names: ['*/*', '*/*/*'] };
  const parts = inFull(text);
  const example = ['any', 'stable', 'any'];
  const read = parseChannel(parts.map((part, at) => (part === '*' ? (example[at] ?? part) : part)).join('/'));
  if (read === undefined) return undefined;
  const name = read.name.split('/').map((part, at) => (parts[at] === '*' ? '*' : part));
  return { text, names: [name.join('/')] };
}

/**
 * Parses a channel restriction of a token of format 1, from an early version of larder: each part may contain stars and need not be valid
 * in a channel.
 */
export function readChannelGlob(text: string): ChannelPattern | undefined {
  const isGlob = text.length <= 200 && /^[a-zA-Z0-9*._+-]+(?:\/[a-zA-Z0-9*._+-]+){0,2}$/.test(text);
  return isGlob ? { text, names: [inFull(text).join('/')] } : undefined;
}

/** Whether a token's pattern covers a channel. */
export const coversChannel = ({ names }: ChannelPattern, subject: Channel): boolean => {
  const parts = subject.name.split('/');
  return names.some((name) => {
    const full = name.split('/');
    return full.length === parts.length && full.every((part, at) => matchesGlob(part, parts[at] ?? ''));
  });
};

/** The parts of a name. A name that begins with a risk means the latest track. */
const inFull = (text: string): string[] => {
  const parts = text.split('/');
  return isRisk(parts[0]) ? ['latest', ...parts] : parts;
};

/**
 * Matches `*` against any run of characters. Backtracks only to the last star: linear in practice, quadratic at worst.
 */
export function matchesGlob(glob: string, text: string): boolean {
  let [at, g, star, mark] = [0, 0, -1, 0];
  while (at < text.length) {
    if (glob[g] === '*') {
      star = g++;
      mark = at;
    } else if (g < glob.length && glob[g] === text[at]) {
      g++;
      at++;
    } else if (star >= 0) {
      g = star + 1;
      at = ++mark;
    } else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}

/**
 * The channel that a device falls back to if this one is empty: the next safer risk, or, for a branch, its own risk.
 */
export function fallback(subject: Channel): string | null {
  if (subject.branch !== null) return `${subject.track}/${subject.risk}`;
  const safer = risks[risks.indexOf(subject.risk) - 1];
  return safer === undefined ? null : `${subject.track}/${safer}`;
}
