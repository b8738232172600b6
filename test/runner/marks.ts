// Marks for the beginning and the end of a file in the output of a process: comments of TAP.
export const beginMark = '# larder: begin ';
export const endMark = '# larder: end ';
/** The last subtest of each file: once it has run, every test of the file has ended. */
export const drainTitle = 'every test of this file has ended';
