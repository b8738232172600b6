// One call of each operation and its answer, as a test has had them: for the documents.
import { embeddedText } from '#src/embedded.ts';

export interface Example {
  /** The path with its query, as it was asked for. */
  path: string;
  /** What was sent, where that was JSON. */
  body?: unknown;
  status: number;
  /** The media type of the answer, where it has a body. */
  type?: string;
  /** What was answered, where that was JSON. */
  answer?: unknown;
}

let kept: Map<string, Example> | undefined;

/** By the name of the operation. */
export const examples = (): Map<string, Example> =>
  (kept ??= new Map(
    Object.entries(JSON.parse(embeddedText('src/api/documents/examples.json')) as Record<string, Example>),
  ));
