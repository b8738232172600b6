// How the process that runs files of tests says where one begins and ends: comments of TAP.
export const beginMark = '# larder: begin ';
export const endMark = '# larder: end ';
/** The last subtest of each file: once it has run, every test of the file has ended. */
export const drainTitle = 'every test of this file has ended';
