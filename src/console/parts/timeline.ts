// Events in the order of time, with a heading for each day.
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import { letterTile } from './icon.ts';
import { time, timeOfDay } from './values.ts';

export interface TimelineEvent {
  /** RFC 3339. */
  at: string;
  /** The name of the actor, for the picture. */
  actor: string;
  sentence: HtmlContent;
  /** Shown when the reader unfolds the event. */
  details?: HtmlContent;
}

export function timeline(events: readonly TimelineEvent[]): Html {
  const days = [...new Set(events.map(dayOf))];
  return html`${days.map(
    (day) =>
      html`<h3 class="day">${day}</h3>
        <ul class="timeline">
          ${events
            .filter((event) => dayOf(event) === day)
            .map(
              ({ at, actor, sentence, details }) =>
                html`<li>
                  ${letterTile(actor)}<span>${sentence}</span>
                  <span class="hint">${details === undefined ? time(at) : timeOfDay(at)}</span>
                  ${details === undefined ? nothing : html`<details>${details}</details>`}
                </li>`,
            )}
        </ul>`,
  )}`;
}

const [weekdays, months] = [
  'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' '),
  'January February March April May June July August September October November December'.split(' '),
];

/** `Thursday, 26 November 2026`, in UTC. Without Intl: the first use of its formats keeps 8 MB in memory (`npm run bench -- memory`). */
function dayOf({ at }: TimelineEvent): string {
  const date = new Date(at);
  const [weekday, month] = [weekdays[date.getUTCDay()]!, months[date.getUTCMonth()]!];
  return `${weekday}, ${String(date.getUTCDate())} ${month} ${String(date.getUTCFullYear())}`;
}
