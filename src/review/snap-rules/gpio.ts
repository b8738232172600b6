// Applies snapd's rules for the slots of a gadget that assign lines of GPIO chips (snap/validate.go, validateGpioChardevSlots).
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import type { Faults } from './fields.ts';
import type { Connector } from './model.ts';

/** A range of lines, both ends inclusive. */
type Span = readonly [start: number, end: number];

/** A limit of larder. */
const maxSpans = 10_000;

/** Adds the faults that make a device refuse the slots: a slot without valid chips and lines, or a line in two slots. */
export function checkGpioSlots(slots: ReadonlyMap<string, Connector>, faults: Faults): void {
  let spanCount = 0;
  const spansOfChips = new Map<string, Span[]>();
  for (const [name, { interfaceName, attributes }] of slots) {
    if (interfaceName !== 'gpio-chardev') continue;
    const chips = attributes.get('source-chip');
    const spans = parseSpans(attributes.get('lines'));
    if (!isTexts(chips) || spans === undefined) {
      faults.add(
        `The slot ${quoted(name)} in meta/snap.yaml needs 'source-chip', a list of texts, and 'lines', a text such as '0,3-5' without duplicate lines.`,
      );
      continue;
    }
    spanCount += chips.length * spans.length;
    if (spanCount > maxSpans) {
      faults.add(`The slots in meta/snap.yaml have more than ${String(maxSpans)} ranges of GPIO lines: use fewer.`);
      return;
    }
    for (const chip of chips) spansOfChips.set(chip, (spansOfChips.get(chip) ?? []).concat(spans));
  }
  for (const [chip, spans] of spansOfChips) {
    if (overlap(spans))
      faults.add(
        `The slots in meta/snap.yaml share a line of the chip ${quoted(chip)}: give each line to one slot alone.`,
      );
  }
}

const isTexts = (value: TypedYaml | undefined): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

function parseSpans(value: TypedYaml | undefined): Span[] | undefined {
  if (typeof value !== 'string') return undefined;
  const spans = value.split(',').map(parseSpan);
  return spans.every((span) => span !== undefined) && !overlap(spans) ? spans : undefined;
}

function parseSpan(text: string): Span | undefined {
  const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  if (first === undefined) return undefined;
  const [start, end] = [Number(first), Number(last ?? first)];
  return end < 2 ** 32 && (last === undefined || start < end) ? [start, end] : undefined;
}

function overlap(spans: readonly Span[]): boolean {
  const sorted = spans.toSorted(([start], [other]) => start - other);
  return sorted.some(([start], at) => at > 0 && start <= sorted[at - 1]![1]);
}
