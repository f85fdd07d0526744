/** The process's environment, for those who compose a program and have none given. */
export const environment = (): Readonly<Record<string, string | undefined>> => process.env;

/** The folder a program was started in. */
export const workingFolder = (): string => process.cwd();
