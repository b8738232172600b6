// The base score of CVSS 3.0 and 3.1 (CVSS v3.1 Specification Document, section 7.1), and its rating (section 5).
import type { VulnerabilitySeverity } from './finding.ts';

const weights: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 },
  AC: { L: 0.77, H: 0.44 },
  UI: { N: 0.85, R: 0.62 },
  C: { H: 0.56, L: 0.22, N: 0 },
  I: { H: 0.56, L: 0.22, N: 0 },
  A: { H: 0.56, L: 0.22, N: 0 },
};
/** Weights of the required privileges: if the scope is unchanged, and if it changes. */
const privileges = { U: { N: 0.85, L: 0.62, H: 0.27 }, C: { N: 0.85, L: 0.68, H: 0.5 } };

/** The base score of a vector such as `CVSS:3.1/AV:N/AC:L/…`; undefined if it is no complete vector of version 3. */
export function parseCvss3(vector: string): number | undefined {
  if (vector.length > 300 || !/^CVSS:3\.[01]\//.test(vector)) return undefined;
  const metrics = new Map(
    vector.split('/').map((part): [string, string] => {
      const [metric = '', value = ''] = part.split(':', 2);
      return [metric, value];
    }),
  );
  const scope = metrics.get('S');
  if (scope !== 'U' && scope !== 'C') return undefined;
  const privilege = privileges[scope][metrics.get('PR') as 'N' | 'L' | 'H'] as number | undefined;
  const weight = (metric: string): number => weights[metric]?.[metrics.get(metric) ?? ''] ?? NaN;
  const missing = 1 - (1 - weight('C')) * (1 - weight('I')) * (1 - weight('A'));
  const impact = scope === 'U' ? 6.42 * missing : 7.52 * (missing - 0.029) - 3.25 * (missing - 0.02) ** 15;
  const exploitability = 8.22 * weight('AV') * weight('AC') * (privilege ?? NaN) * weight('UI');
  if (Number.isNaN(impact + exploitability)) return undefined;
  if (impact <= 0) return 0;
  return roundUp(Math.min((scope === 'U' ? 1 : 1.08) * (impact + exploitability), 10));
}

/** To one decimal place, upwards, without errors of floating point (appendix A). */
function roundUp(score: number): number {
  const whole = Math.round(score * 100_000);
  return whole % 10_000 === 0 ? whole / 100_000 : (Math.floor(whole / 10_000) + 1) / 10;
}

/** The rating of a score. */
export function rateScore(score: number): VulnerabilitySeverity {
  if (score >= 9) return 'critical';
  if (score >= 7) return 'high';
  if (score >= 4) return 'medium';
  return score > 0 ? 'low' : 'negligible';
}
