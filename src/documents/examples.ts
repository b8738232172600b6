// One recorded call of each operation from a test, with its response, for the documents.
import { embeddedText } from '#platform/embedded.ts';

export interface Example {
  /** The requested path with its query. */
  path: string;
  /** The JSON that was sent, if any. */
  body?: unknown;
  status: number;
  /** The media type of the response, if it has a body. */
  type?: string;
  /** The JSON of the response, if any. */
  answer?: unknown;
}

let cachedExamples: Map<string, Example> | undefined;

/** Returns the examples for the documentation, by the name of the operation. */
export const examples = (): Map<string, Example> =>
  (cachedExamples ??= new Map(
    Object.entries(JSON.parse(embeddedText('src/documents/examples.json')) as Record<string, Example>),
  ));
