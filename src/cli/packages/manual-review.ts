// larder package manual-review
import { setManualReview } from '#acts/packages/registration.ts';
import { command, UsageError } from '../frame/command.ts';
import { packageArgument, findPackage } from './package-argument.ts';
import { withStore } from '../frame/store.ts';

export const packageManualReview = command({
  name: 'package manual-review',
  summary: "Turn manual review of a package's uploads on or off.",
  description:
    "An upload that passes the automatic review then waits until 'larder review approve' or 'larder review " +
    "reject'.",
  positionals: [
    packageArgument,
    {
      name: 'switch',
      value: 'on|off',
      summary: 'Turn manual review on or off. Uploads that already wait are not affected.',
    },
  ],
  examples: ['larder package manual-review snap/hello on', 'larder package manual-review snap/hello off'],

  run({ positionals, data, world }) {
    const { switch: to } = positionals;
    if (to !== 'on' && to !== 'off') throw new UsageError(`manual review is 'on' or 'off', not '${to}'`);
    return withStore({ data, world }, async ({ records, acts, actor }) => {
      const subject = await findPackage(records, positionals.package);
      const object = `${subject.namespace}/${subject.name}`;
      await acts.do(setManualReview, { actor }, { package: subject, on: to === 'on' });
      const text =
        to === 'on'
          ? `Uploads of ${object} wait for a person from now on.`
          : `Uploads of ${object} no longer wait for a person.`;
      return { text, json: { package: object, 'manual-review': to === 'on' } };
    });
  },
});
