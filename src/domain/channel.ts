// Channels: track, risk and branch.

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
 * Reads `edge`, `edge/branch`, `2.0/edge`, `2.0/edge/branch`; a lone track (`2.0`) means its stable risk.
 * `undefined` when it is no channel.
 */
export function parseChannel(text: string): Channel | undefined {
  const parts = text.split('/');
  const [first = '', second, third] = parts;
  if (parts.length > 3) return undefined;
  const [track, risk, branch] = isRisk(first) ? ['latest', first, second] : [first, second ?? 'stable', third];
  if (isRisk(first) && third !== undefined) return undefined;
  if (!isTrackName(track) || !isRisk(risk)) return undefined;
  if (branch !== undefined && (branch.length > 128 || !branchPattern.test(branch) || isRisk(branch))) return undefined;
  return channel(track, risk, branch ?? null);
}

/**
 * Whether a token's channel glob covers a channel: `*` stands for any run without a slash,
 * and a glob that begins with a risk means the latest track.
 */
export function matchesChannel(glob: string, subject: Channel): boolean {
  const parts = glob.split('/');
  const full = isRisk(parts[0]) ? ['latest', ...parts] : parts;
  const names = subject.name.split('/');
  return full.length === names.length && full.every((part, index) => matchesPart(part, names[index] ?? ''));
}

/** `*` as any run of characters, without backtracking beyond the last star (linear in practice, quadratic at worst). */
function matchesPart(glob: string, text: string): boolean {
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

/** Whether a token's channel restriction is well-formed: a channel, with `*` allowed in each part. */
export function isChannelGlob(text: string): boolean {
  const parts = text.split('/');
  return (
    text.length <= 200 &&
    parts.length <= 3 &&
    parts.every((part) => /^[a-zA-Z0-9*._+-]+$/.test(part)) &&
    parts.length > 0
  );
}

/** The channel a device falls back to when this one holds nothing: the next safer risk, a branch to its own risk. */
export function fallback(subject: Channel): string | null {
  if (subject.branch !== null) return `${subject.track}/${subject.risk}`;
  const safer = risks[risks.indexOf(subject.risk) - 1];
  return safer === undefined ? null : `${subject.track}/${safer}`;
}
