// larder transfer preview
import { resolve } from 'node:path';

import { presentPreview, buildPreviewReport } from '#transfers/accept/report.ts';
import { command } from '../frame/command.ts';
import { writeNew } from '../frame/outside-files.ts';
import { withStore } from '../frame/store.ts';
import { selectionOptions, withTransferPreview } from './staged-transfer.ts';
import { renderReportPage, renderReportText } from './report.ts';

export const transferPreview = command({
  name: 'transfer preview',
  summary: 'Show what a transfer that waits here would change, on whose word, and what stands in its way.',
  description:
    'Exit code 1 says that something stands in its way. What is local wins: a name that somebody has here, a revision that is here ' +
    'with other content and a package of this site are never changed.',
  positionals: [{ name: 'id', summary: 'The first digits of the id of the transfer.' }],
  options: {
    ...selectionOptions,
    html: { type: 'string', value: 'FILE', summary: 'Write it as one page too, into a file that is not there yet.' },
  },
  examples: ['larder transfer preview 3f9a01', "larder transfer preview 3f9a01 --without 'charm/*' --json"],

  run: ({ positionals: { id }, options, data, world }) =>
    withStore(
      { data, world },
      (store) =>
        withTransferPreview(store, id, options, async (preview) => {
          const { html } = options;
          const page =
            html === undefined
              ? undefined
              : await writeNew(resolve(html), store.asCaller, (add) =>
                  add(renderReportPage(buildPreviewReport(preview))),
                );
          // Only one of text and json is printed, and each is as long as the transfer.
          return {
            get text() {
              return renderReportText(buildPreviewReport(preview));
            },
            json: { ...presentPreview(preview), ...(page !== undefined && { page }) },
            exitCode: preview.plan.problems.length === 0 ? 0 : 1,
          };
        }),
      { writesOutside: options.html !== undefined },
    ),
});
