import t from 'tap';

import { createHealth } from '#src/health.ts';

t.test('a problem is told as long as it stands, and the log hears of each change once', (t) => {
  const lines: unknown[] = [];
  const line = (...said: unknown[]): void => {
    lines.push(said[1]);
  };
  const health = createHealth({ error: line, info: line } as never);
  let clock: string | undefined;
  health.watch('clock', () => clock);
  health.report('disk', 'The disk is full.');
  health.report('disk', 'The disk is full.');
  clock = 'The clock is wrong.';
  t.same(health.problems(), ['The clock is wrong.', 'The disk is full.']);
  health.report('disk', undefined);
  health.report('disk', undefined);
  clock = undefined;
  t.same(health.problems(), []);
  t.same(lines, ['The disk is full.', 'this is well again']);
  t.end();
});
