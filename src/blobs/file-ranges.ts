// Ranges of open files, which can be copied without passing their bytes through the event loop.

/** A range of an open file, by its descriptor. The file stays open until the next range is requested. */
export interface FileRange {
  descriptor: number;
  offset: number;
  size: number;
}

/** Ranges in order. */
export type FileRanges = Iterable<FileRange> | AsyncIterable<FileRange>;
