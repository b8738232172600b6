// Selects the metrics of /metrics for a support bundle: the store's own metrics, with labels of an allow list.
import { faultCodes, jobNames, operationNames, refusalCodes } from './values.ts';

const isNumber = (value: string): boolean => /^(?:\+Inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.test(value);
const among =
  (...lists: ReadonlySet<string>[]) =>
  (value: string): boolean =>
    lists.some((list) => list.has(value));

/** The allowed values of each label. */
const labels: Readonly<Record<string, (value: string) => boolean>> = {
  operation: among(operationNames),
  status: (value) => /^[1-5]\d\d$/.test(value),
  code: among(faultCodes, refusalCodes),
  job: among(jobNames),
  task: among(jobNames),
  le: isNumber,
  version: (value) => /^v?\d{1,5}(?:\.\d{1,5}){0,3}$/.test(value),
  kind: among(new Set(['upload', 'proposal', 'transfer', 'key request', 'major', 'minor', 'incremental', 'weakcb'])),
  state: among(new Set(['unclaimed', 'waiting', 'approved', 'rejected', 'wanted', 'serving', 'used', 'open'])),
  outcome: among(new Set(['made', 'refused', 'failed'])),
  direction: among(new Set(['sent', 'received'])),
  as: among(new Set(['served', 'whole', 'delta'])),
};

/** The lines of a page of metrics that may leave the host. */
export function metricsForBundle(page: string): string {
  const lines = page.split('\n').filter((line) => {
    const [, labelText = '', value = ''] =
      /^(?:larder|process|nodejs)_[a-z0-9_]+(?:\{([^}]*)\})? (\S+)$/.exec(line) ?? [];
    const pairs = labelText === '' ? [] : labelText.split(',');
    return isNumber(value) && pairs.every(isAllowedLabel);
  });
  return lines.map((line) => `${line}\n`).join('');
}

function isAllowedLabel(pair: string): boolean {
  const [, name = '', value = ''] = /^(\w+)="([^"\\]*)"$/.exec(pair) ?? [];
  return Object.hasOwn(labels, name) && labels[name]!(value);
}
