export const changedFiles = async (files: string[]): Promise<string[]> => files;
